-- Checkpoints after the last one in an anchor, in order. Numbers may come again in a later epoch,
-- when a backup was restored. Parameters: epoch, number, count.
SELECT c.number, c.at, c.epoch, c.operations, c.snapshot::text AS snapshot, c.root, c.key_id,
       c.signature, i.ledger_id
  FROM checkpoints c CROSS JOIN ledger_identity i
 WHERE (c.epoch, c.number) > (%(epoch)s::integer, %(number)s::bigint)
 ORDER BY c.number LIMIT %(count)s::integer;

-- Checkpoints after a number, in order. Parameters: number, count.
SELECT c.number, c.at, c.epoch, c.operations, c.snapshot::text AS snapshot, c.root, c.key_id,
       c.signature, i.ledger_id
  FROM checkpoints c CROSS JOIN ledger_identity i
 WHERE c.number > %(number)s::bigint ORDER BY c.number LIMIT %(count)s::integer;

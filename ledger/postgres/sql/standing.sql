-- How far this database has come, to be compared with what is written outside it.
SELECT i.ledger_id, i.epoch,
       pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS next_transaction,
       coalesce((SELECT max(number) FROM checkpoints), 0) AS checkpoint
  FROM ledger_identity i;

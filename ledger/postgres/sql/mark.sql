-- A durable transaction of its own, whose number may be written outside: as long as the database
-- is the one that it was, every later number is greater, also after a crash.
UPDATE ledger_identity SET high_water = greatest(high_water, ledger_now())
RETURNING ledger_id, epoch, pg_current_xact_id()::text::bigint AS transaction;

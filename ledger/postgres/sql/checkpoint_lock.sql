-- One writer of checkpoints at a time. A first checkpoint over an old ledger may take a while.
SELECT pg_advisory_xact_lock(878701), set_config('statement_timeout', '10min', true);

-- How many sendings a restored ledger has learnt of from the provider: counted as they come, since
-- counting them afterwards reads the whole history since the backup.
ALTER TABLE restorations ADD COLUMN imported bigint NOT NULL DEFAULT 0;

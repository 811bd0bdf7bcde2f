-- How many sendings a restored ledger has learnt of from the provider: counted as they come, since
-- counting them afterwards reads the whole history since the backup.
ALTER TABLE restorations ADD COLUMN imported bigint NOT NULL DEFAULT 0;
UPDATE restorations r
   SET imported = (SELECT count(*) FROM events e WHERE e.kind = 'imported' AND e.at >= r.began_at)
 WHERE r.epoch = (SELECT max(epoch) FROM restorations);

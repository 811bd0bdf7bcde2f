-- Since when a database that was put back may lack what happened: its last checkpoint from before
-- the mark outside was written. Its own clock's mark moves on with the first heartbeat of any
-- worker that still runs; what is older than the mark outside can only come from the backup.
-- Parameter: marked_at.
SELECT least(i.high_water, coalesce(
           (SELECT max(c.at) FROM checkpoints c
             WHERE c.at <= %(marked_at)s::timestamptz - interval '1 hour'),
           i.created_at)) AS backup_at
  FROM ledger_identity i;

-- Let what a restored backup held back go on, unless it was found to reach further back meanwhile.
-- Parameters: by, epoch, backup_at (as it was read).
UPDATE restorations SET released_at = ledger_now(), released_by = %(by)s::text
 WHERE released_at IS NULL AND epoch = %(epoch)s::integer
   AND backup_at = %(backup_at)s::timestamptz RETURNING *;

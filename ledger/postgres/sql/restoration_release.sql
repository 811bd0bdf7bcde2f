-- Let what a restored backup held back go on. Parameters: by, epoch.
UPDATE restorations SET released_at = ledger_now(), released_by = %(by)s::text
 WHERE released_at IS NULL AND epoch = %(epoch)s::integer RETURNING *;

-- The backup is older than was thought. Parameter: backup_at.
UPDATE restorations SET backup_at = least(backup_at, %(backup_at)s::timestamptz)
 WHERE released_at IS NULL RETURNING *;

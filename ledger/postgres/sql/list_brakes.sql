-- What stops sending, a restored backup's quarantine included.
SELECT scope, set_by, reason, set_at FROM brakes
 UNION ALL
SELECT 'quarantine', began_by, 'a restored backup: ' || reason, began_at FROM restorations
 WHERE released_at IS NULL
 ORDER BY set_at;

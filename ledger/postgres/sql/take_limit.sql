-- Count an automatic approval against a limit of the day; no row: it would go over.
-- Parameters: limit_name, key, unit, amount, cap.
INSERT INTO limit_counters (limit_name, key, day, unit, used)
SELECT %(limit_name)s::text, %(key)s::text, (ledger_now() AT TIME ZONE 'UTC')::date,
       %(unit)s::text, %(amount)s::bigint
 WHERE %(amount)s::bigint <= %(cap)s::bigint
ON CONFLICT (limit_name, key, day, unit) DO UPDATE
   SET used = limit_counters.used + excluded.used
 WHERE limit_counters.used + excluded.used <= %(cap)s::bigint
RETURNING used;

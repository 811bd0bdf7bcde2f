-- Take one sweep of a type that is due, or that was left in the middle, unless somebody else is on
-- it; the next one in the order of accounts. While a restored backup is in quarantine, all are due
-- all the time. Parameters: type, after (an account), every_s, soon_s, overlap_s, lease_s.
WITH clock AS MATERIALIZED (
    SELECT ledger_now() AS at, make_interval(secs => CASE
           WHEN EXISTS (SELECT FROM restorations WHERE released_at IS NULL)
           THEN %(soon_s)s::double precision ELSE %(every_s)s::double precision END) AS every
), due AS MATERIALIZED (
    SELECT s.type, s.account, c.at
      FROM sweeps s CROSS JOIN clock c
     WHERE s.type = %(type)s::text AND s.account > %(after)s::text
       AND (s.taken_until IS NULL OR s.taken_until <= c.at)
       AND (s.since IS NOT NULL OR s.swept_until <= c.at - c.every)
     ORDER BY s.account LIMIT 1 FOR UPDATE OF s SKIP LOCKED
)
UPDATE sweeps s
   SET taken_until = d.at + make_interval(secs => %(lease_s)s::double precision),
       since = coalesce(s.since, s.swept_until
                        - make_interval(secs => %(overlap_s)s::double precision))
  FROM due d WHERE s.type = d.type AND s.account = d.account
RETURNING s.account, s.since, s.until, s.page, d.at;

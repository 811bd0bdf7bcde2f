-- Take a sweep that is due, or that was left in the middle, unless somebody else is on it. While a
-- restored backup is in quarantine, it is due all the time.
-- Parameters: type, account, every_s, soon_s, overlap_s, lease_s.
UPDATE sweeps s
   SET taken_until = c.at + make_interval(secs => %(lease_s)s::double precision),
       since = coalesce(s.since, s.swept_until
                        - make_interval(secs => %(overlap_s)s::double precision))
  FROM (SELECT ledger_now() AS at, make_interval(secs => CASE
               WHEN EXISTS (SELECT FROM restorations WHERE released_at IS NULL)
               THEN %(soon_s)s::double precision ELSE %(every_s)s::double precision END) AS every
       ) AS c
 WHERE s.type = %(type)s::text AND s.account = %(account)s::text
   AND (s.taken_until IS NULL OR s.taken_until <= c.at)
   AND (s.since IS NOT NULL OR s.swept_until <= c.at - c.every)
RETURNING s.since, s.until, s.page, c.at;

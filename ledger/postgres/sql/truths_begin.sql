-- Where the ledger's day (UTC) begins in the order of transactions; looked for among the newest
-- events only. Parameter: most.
SELECT day.at AS day, coalesce(min(recent.xid) FILTER (WHERE recent.at >= day.at),
                               pg_snapshot_xmin(pg_current_snapshot()))::text AS xid
  FROM (SELECT date_trunc('day', ledger_now(), 'UTC') AS at) AS day
  LEFT JOIN (SELECT xid, at FROM events ORDER BY xid DESC LIMIT %(most)s::integer) AS recent ON true
 GROUP BY day.at;

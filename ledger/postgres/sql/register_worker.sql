-- Parameters: incarnation, identity, host, pid.
INSERT INTO workers (incarnation, identity, host, pid, started_at, heartbeat_at, beating_since)
SELECT %(incarnation)s::uuid, %(identity)s::text, %(host)s::text, %(pid)s::integer, at, at, at
  FROM (SELECT ledger_now() AS at) AS clock;

-- The panels that the history tells, one row a panel, name and bucket: from the newest events back
-- to `since`, and no more than `most` of them. Times are the database's; a bucket is `step_s` long
-- and begins at `since`. The twin in ClickHouse is telemetry/panels/history.sql.
-- Parameters: since, until, step_s, most.
WITH bounds AS MATERIALIZED (
    SELECT %(since)s::timestamptz AS since, %(until)s::timestamptz AS until,
           make_interval(secs => %(step_s)s::double precision) AS step
), recent AS MATERIALIZED (
    SELECT operation_id, seq, kind, at FROM events ORDER BY xid DESC LIMIT %(most)s::integer
), told AS MATERIALIZED (
    SELECT r.operation_id, r.kind, r.at, date_bin(b.step, r.at, b.since) AS bucket,
           p.payload::jsonb AS told
      FROM (SELECT recent.* FROM recent CROSS JOIN bounds
             WHERE at >= bounds.since AND at < bounds.until) AS r
     CROSS JOIN bounds b
      LEFT JOIN event_payloads p USING (operation_id, seq)
), facts AS MATERIALIZED (
    -- A look-up that left an operation where it stood reached no state.
    SELECT *, CASE WHEN kind <> 'decided' OR told->>'action' LIKE 'finish%%'
                   THEN coalesce(told->>'state', CASE kind WHEN 'authorized' THEN 'created'
                                                           WHEN 'sent' THEN 'sent' END)
              END AS state FROM told
), ended AS MATERIALIZED (
    -- The first proven outcome. Of an operation that was authorized within these facts, all is
    -- among them; of the others the whole history is looked through.
    SELECT f.operation_id, first.at AS ended_at
      FROM (SELECT operation_id, bool_or(kind = 'authorized') AS whole,
                   min(at) FILTER (WHERE state IN ('confirmed', 'failed')) AS ended_at
              FROM facts GROUP BY operation_id) AS f
     CROSS JOIN bounds b
     CROSS JOIN LATERAL (
           SELECT f.ended_at AS at WHERE f.whole
           UNION ALL
           SELECT min(e.at) FROM events e JOIN event_payloads p USING (operation_id, seq)
            WHERE NOT f.whole AND e.operation_id = f.operation_id
              AND p.payload::jsonb->>'state' IN ('confirmed', 'failed')) AS first
     WHERE f.ended_at IS NOT NULL AND first.at >= b.since
), lives AS MATERIALIZED (
    -- From the first send to the proven outcome.
    SELECT o.amount_minor, o.currency, sent.at AS sent_at, x.ended_at
      FROM (SELECT operation_id, ended_at FROM ended
            UNION ALL
            (SELECT id, NULL FROM operations WHERE state = 'sent'
                AND (state IN ('created', 'sent') OR escalated) LIMIT %(most)s::integer)) AS x
      JOIN operations o ON o.id = x.operation_id
     CROSS JOIN LATERAL (SELECT min(a.started_at) AS at FROM attempts a
                          WHERE a.operation_id = x.operation_id) AS sent
     WHERE sent.at IS NOT NULL
), spans AS MATERIALIZED (
    -- Each life from the first tick at which it was in doubt up to the first at which it was no
    -- more; those of the same ticks are one row, so that thousands cost what one does.
    SELECT currency, first, past, count(*) AS operations, sum(amount_minor) AS amount_minor,
           min(sent_at) AS sent_at
      FROM (SELECT currency, amount_minor, sent_at,
                   date_bin(b.step, greatest(sent_at - interval '1 microsecond', b.since), b.since)
                       AS first,
                   CASE WHEN ended_at <= b.until
                        THEN date_bin(b.step, ended_at - interval '1 microsecond', b.since) END
                       AS past
              FROM lives CROSS JOIN bounds b WHERE sent_at <= b.until) AS each
     GROUP BY currency, first, past
), ticks AS MATERIALIZED (
    SELECT bucket, least(bucket + b.step, b.until) AS at
      FROM bounds b
     CROSS JOIN LATERAL generate_series(b.since, b.until - interval '1 microsecond', b.step) AS bucket
), doubt AS MATERIALIZED (
    SELECT t.bucket, t.at, s.currency, s.operations, s.amount_minor, s.sent_at
      FROM ticks t JOIN spans s ON t.bucket >= s.first AND (s.past IS NULL OR t.bucket < s.past)
), answered AS MATERIALIZED (
    SELECT f.bucket, extract(epoch FROM f.at - a.started_at) * 1000 AS ms
      FROM facts f
     CROSS JOIN LATERAL (SELECT started_at FROM attempts
                          WHERE operation_id = f.operation_id
                            AND number = (f.told->>'attempt')::integer
                         OFFSET 0) AS a  -- one by one by its key, never all that there are
     WHERE f.kind IN ('answered', 'answered_late')
)
SELECT 'operations_by_state' AS panel, state AS name, bucket,
       count(DISTINCT operation_id)::double precision AS value
  FROM facts WHERE state IS NOT NULL GROUP BY state, bucket
UNION ALL
SELECT 'in_doubt', 'operations', bucket, sum(operations) FROM doubt GROUP BY bucket
UNION ALL
SELECT 'in_doubt_money', currency, bucket, sum(amount_minor)
  FROM doubt WHERE currency IS NOT NULL GROUP BY currency, bucket
UNION ALL
SELECT 'in_doubt_oldest', 'oldest', bucket, extract(epoch FROM max(at - sent_at))
  FROM doubt GROUP BY bucket
UNION ALL
SELECT 'time_to_truth', q.name, q.bucket,
       percentile_cont(q.level) WITHIN GROUP (ORDER BY q.seconds)
  FROM (SELECT level, name, date_bin(b.step, ended_at, b.since) AS bucket,
               extract(epoch FROM ended_at - sent_at)::double precision AS seconds
          FROM lives CROSS JOIN bounds b
         CROSS JOIN (VALUES (0.5, 'p50'), (0.95, 'p95'), (0.99, 'p99')) AS levels(level, name)
         WHERE ended_at IS NOT NULL AND ended_at < b.until) AS q
 GROUP BY q.level, q.name, q.bucket
UNION ALL
SELECT 'decisions', told->>'code', bucket, count(*)
  FROM facts WHERE kind = 'decided' AND told->>'code' IS NOT NULL GROUP BY told->>'code', bucket
UNION ALL
SELECT 'provider_errors', concat_ws(' ', told->>'outcome', nullif(told->>'code', '')), bucket,
       count(*)
  FROM facts WHERE told->>'outcome' NOT IN ('', 'accepted') GROUP BY 2, bucket
UNION ALL
SELECT 'dispatch_latency', q.name, q.bucket,
       percentile_cont(q.level) WITHIN GROUP (ORDER BY q.ms)
  FROM (SELECT level, name, bucket, ms::double precision AS ms FROM answered
         CROSS JOIN (VALUES (0.5, 'p50'), (0.95, 'p95'), (0.99, 'p99')) AS levels(level, name)) AS q
 GROUP BY q.level, q.name, q.bucket
UNION ALL
SELECT '', 'cut', b.since, (SELECT count(*) = %(most)s::integer AND min(at) > b.since
                              FROM recent)::integer
  FROM bounds b;

-- The panels of what was put before people: proposals and questions. Looked at are those of the
-- time shown, of 14 days (proposals) and 90 days (questions) before, and all that are still open;
-- at most `most` of each. The twin in ClickHouse is telemetry/panels/matters.sql.
-- Parameters: since, until, step_s, most.
WITH bounds AS MATERIALIZED (
    SELECT %(since)s::timestamptz AS since, %(until)s::timestamptz AS until,
           make_interval(secs => %(step_s)s::double precision) AS step
), matters AS MATERIALIZED (
    (SELECT 'proposal' AS what, '{}'::text[] AS reasons, created_at AS asked_at,
            decided_at AS ended_at, state AS ended
       FROM proposals CROSS JOIN bounds b
      WHERE mode = 'human' AND created_at >= b.since - interval '14 days'
      ORDER BY created_at DESC LIMIT %(most)s::integer)
    UNION ALL
    (SELECT 'proposal', '{}', created_at, NULL, state
       FROM proposals CROSS JOIN bounds b
      WHERE mode = 'human' AND state = 'awaiting' AND created_at < b.since - interval '14 days'
      LIMIT %(most)s::integer)
    UNION ALL
    (SELECT 'question', reasons, opened_at, closed_at, coalesce(verdict, '')
       FROM escalations CROSS JOIN bounds b
      WHERE id >= uuid_floor(b.since - interval '91 days')
        AND opened_at >= b.since - interval '90 days'
      ORDER BY id DESC LIMIT %(most)s::integer)
    UNION ALL
    (SELECT 'question', reasons, opened_at, NULL, ''
       FROM escalations CROSS JOIN bounds b
      WHERE closed_at IS NULL AND opened_at < b.since - interval '90 days'
      LIMIT %(most)s::integer)
), ticks AS MATERIALIZED (
    SELECT bucket, least(bucket + b.step, b.until) AS at
      FROM bounds b
     CROSS JOIN LATERAL generate_series(b.since, b.until - interval '1 microsecond', b.step) AS bucket
), spans AS MATERIALIZED (
    -- Each matter from the first tick at which it was open up to the first at which it was no more;
    -- those of the same ticks are one row, so that thousands cost what one does.
    SELECT what, reasons, first, past, count(*) AS matters, min(asked_at) AS asked_at
      FROM (SELECT what, reasons, asked_at,
                   date_bin(b.step, greatest(asked_at - interval '1 microsecond', b.since), b.since)
                       AS first,
                   CASE WHEN ended_at <= b.until
                        THEN date_bin(b.step, ended_at - interval '1 microsecond', b.since) END
                       AS past
              FROM matters CROSS JOIN bounds b WHERE asked_at <= b.until) AS each
     GROUP BY what, reasons, first, past
), open AS MATERIALIZED (
    SELECT t.bucket, t.at, s.what, s.reasons, s.matters, s.asked_at
      FROM ticks t JOIN spans s ON t.bucket >= s.first AND (s.past IS NULL OR t.bucket < s.past)
), decided AS MATERIALIZED (
    SELECT date_bin(b.step, ended_at, b.since) AS bucket, ended,
           extract(epoch FROM ended_at - asked_at)::double precision AS seconds
      FROM matters CROSS JOIN bounds b
     WHERE what = 'proposal' AND ended IN ('approved', 'rejected', 'expired')
       AND ended_at >= b.since AND ended_at < b.until
)
SELECT 'approvals_waiting' AS panel, 'proposals' AS name, bucket, sum(matters)::double precision AS value
  FROM open WHERE what = 'proposal' GROUP BY bucket
UNION ALL
SELECT 'approvals_oldest', 'oldest', bucket, extract(epoch FROM max(at - asked_at))
  FROM open WHERE what = 'proposal' GROUP BY bucket
UNION ALL
SELECT 'approvals_time', q.name, q.bucket,
       percentile_cont(q.level) WITHIN GROUP (ORDER BY q.seconds)
  FROM (SELECT level, name, bucket, seconds FROM decided
         CROSS JOIN (VALUES (0.5, 'p50'), (0.95, 'p95'), (0.99, 'p99')) AS levels(level, name)
         WHERE ended <> 'expired') AS q
 GROUP BY q.level, q.name, q.bucket
UNION ALL
SELECT 'approvals_expired', 'expired', bucket, avg((ended = 'expired')::integer)
  FROM decided GROUP BY bucket
UNION ALL
SELECT 'escalations', reason, date_bin(b.step, m.asked_at, b.since), count(*)
  FROM matters m CROSS JOIN bounds b CROSS JOIN LATERAL unnest(m.reasons) AS reason
 WHERE m.what = 'question' AND m.asked_at >= b.since AND m.asked_at < b.until
 GROUP BY reason, 3
UNION ALL
SELECT 'escalations_oldest', reason, bucket, extract(epoch FROM max(at - asked_at))
  FROM open CROSS JOIN LATERAL unnest(reasons) AS reason WHERE what = 'question'
 GROUP BY reason, bucket
UNION ALL
SELECT '', 'cut', b.since, (SELECT count(*) >= %(most)s::integer FROM matters)::integer
  FROM bounds b;

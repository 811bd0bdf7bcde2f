-- The panels of what was put before people. The twin in PostgreSQL is
-- ledger/postgres/sql/panels_matters.sql: both give the same shape, and look back as far.
-- Parameters: ledger, since, until, step (seconds).
WITH matters AS (
    SELECT * FROM outlive_matters_once
     WHERE ledger_id = {ledger:UUID}
       AND (ended_at IS NULL
            OR asked_at >= {since:DateTime64(6, 'UTC')}
                           - toIntervalDay(if(what = 'proposal', 14, 90)))
), ticks AS (
    SELECT toDateTime({since:DateTime64(6, 'UTC')}, 'UTC') + number * {step:UInt32} AS bucket,
           least(toDateTime64(bucket + {step:UInt32}, 6, 'UTC'),
                 {until:DateTime64(6, 'UTC')}) AS tick
      FROM numbers(toUInt64(ceil(dateDiff('millisecond', {since:DateTime64(6, 'UTC')},
                                          {until:DateTime64(6, 'UTC')}) / 1000 / {step:UInt32})))
), open AS (
    SELECT bucket, tick, what, reasons, asked_at
      FROM ticks CROSS JOIN matters
     WHERE asked_at <= tick AND (ended_at IS NULL OR ended_at > tick)
), decided AS (
    SELECT toDateTime({since:DateTime64(6, 'UTC')}, 'UTC')
           + intDiv(dateDiff('second', toDateTime({since:DateTime64(6, 'UTC')}, 'UTC'),
                             assumeNotNull(ended_at)),
                    {step:UInt32}) * {step:UInt32} AS bucket,
           ended, dateDiff('microsecond', asked_at, assumeNotNull(ended_at)) / 1e6 AS seconds
      FROM matters
     WHERE what = 'proposal' AND ended IN ('approved', 'rejected', 'expired')
       AND ended_at >= {since:DateTime64(6, 'UTC')} AND ended_at < {until:DateTime64(6, 'UTC')}
), times AS (
    SELECT bucket, quantilesExactInclusive(0.5, 0.95, 0.99)(seconds) AS levels
      FROM decided WHERE ended != 'expired' GROUP BY bucket
)
SELECT 'approvals_waiting' AS panel, 'proposals' AS name, bucket, toFloat64(count()) AS value
  FROM open WHERE what = 'proposal' GROUP BY bucket
UNION ALL
SELECT 'approvals_oldest', 'oldest', bucket, max(dateDiff('microsecond', asked_at, tick)) / 1e6
  FROM open WHERE what = 'proposal' GROUP BY bucket
UNION ALL
SELECT 'approvals_time', level.1, bucket, level.2
  FROM times ARRAY JOIN arrayZip(['p50', 'p95', 'p99'], levels) AS level
UNION ALL
SELECT 'approvals_expired', 'expired', bucket, avg(ended = 'expired')
  FROM decided GROUP BY bucket
UNION ALL
SELECT 'escalations', toString(reason),
       toDateTime({since:DateTime64(6, 'UTC')}, 'UTC')
       + intDiv(dateDiff('second', toDateTime({since:DateTime64(6, 'UTC')}, 'UTC'), asked_at),
                {step:UInt32}) * {step:UInt32} AS bucket,
       toFloat64(count())
  FROM matters ARRAY JOIN reasons AS reason
 WHERE what = 'question' AND asked_at >= {since:DateTime64(6, 'UTC')}
   AND asked_at < {until:DateTime64(6, 'UTC')}
 GROUP BY reason, bucket
UNION ALL
SELECT 'escalations_oldest', toString(reason), bucket,
       max(dateDiff('microsecond', asked_at, tick)) / 1e6
  FROM open ARRAY JOIN reasons AS reason WHERE what = 'question' GROUP BY reason, bucket

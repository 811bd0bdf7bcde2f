-- The panels that the history tells, one row a panel, name and bucket. The twin in PostgreSQL is
-- ledger/postgres/sql/panels_history.sql: both give the same shape. Parameters: ledger, since,
-- until, step (seconds). Doubt that began more than 90 days before `since` is not looked for.
WITH facts AS (
    SELECT *, toDateTime({since:DateTime64(6, 'UTC')}, 'UTC')
              + intDiv(dateDiff('second', toDateTime({since:DateTime64(6, 'UTC')}, 'UTC'), at),
                       {step:UInt32}) * {step:UInt32} AS bucket
      FROM outlive_events_once
     WHERE ledger_id = {ledger:UUID}
       AND at >= {since:DateTime64(6, 'UTC')} AND at < {until:DateTime64(6, 'UTC')}
), lives AS (
    SELECT operation_id, any(amount_minor) AS amount, any(currency) AS money,
           minIf(at, kind = 'sent') AS sent_at,
           countIf(state IN ('confirmed', 'failed')) > 0 AS has_ended,
           minIf(at, state IN ('confirmed', 'failed')) AS ended_at
      FROM outlive_events_once
     WHERE ledger_id = {ledger:UUID}
       AND at >= {since:DateTime64(6, 'UTC')} - INTERVAL 90 DAY
       AND at < {until:DateTime64(6, 'UTC')}
     GROUP BY operation_id
    HAVING countIf(kind = 'sent') > 0 AND (NOT has_ended OR ended_at >= {since:DateTime64(6, 'UTC')})
), ticks AS (
    SELECT toDateTime({since:DateTime64(6, 'UTC')}, 'UTC') + number * {step:UInt32} AS bucket,
           least(toDateTime64(bucket + {step:UInt32}, 6, 'UTC'),
                 {until:DateTime64(6, 'UTC')}) AS tick
      FROM numbers(toUInt64(ceil(dateDiff('millisecond', {since:DateTime64(6, 'UTC')},
                                          {until:DateTime64(6, 'UTC')}) / 1000 / {step:UInt32})))
), doubt AS (
    SELECT bucket, tick, amount, money, sent_at
      FROM ticks CROSS JOIN lives
     WHERE sent_at <= tick AND (NOT has_ended OR ended_at > tick)
), truths AS (
    SELECT toDateTime({since:DateTime64(6, 'UTC')}, 'UTC')
           + intDiv(dateDiff('second', toDateTime({since:DateTime64(6, 'UTC')}, 'UTC'), ended_at),
                    {step:UInt32}) * {step:UInt32} AS bucket,
           quantilesExactInclusive(0.5, 0.95, 0.99)(
               dateDiff('microsecond', sent_at, ended_at) / 1e6) AS levels
      FROM lives WHERE has_ended GROUP BY bucket
), sendings AS (
    SELECT operation_id, attempt, min(at) AS started_at
      FROM outlive_events_once
     WHERE ledger_id = {ledger:UUID} AND kind = 'sent'
       AND at >= {since:DateTime64(6, 'UTC')} - INTERVAL 90 DAY
     GROUP BY operation_id, attempt
), latencies AS (
    SELECT bucket, quantilesExactInclusive(0.5, 0.95, 0.99)(
               dateDiff('microsecond', started_at, at) / 1e3) AS levels
      FROM facts INNER JOIN sendings USING (operation_id, attempt)
     WHERE kind IN ('answered', 'answered_late') GROUP BY bucket
)
SELECT 'operations_by_state' AS panel, toString(state) AS name, bucket,
       toFloat64(uniqExact(operation_id)) AS value
  FROM facts WHERE state != '' GROUP BY name, bucket
UNION ALL
SELECT 'in_doubt', 'operations', bucket, toFloat64(count()) FROM doubt GROUP BY bucket
UNION ALL
SELECT 'in_doubt_money', toString(money), bucket, toFloat64(sum(amount))
  FROM doubt WHERE money != '' GROUP BY money, bucket
UNION ALL
SELECT 'in_doubt_oldest', 'oldest', bucket, max(dateDiff('microsecond', sent_at, tick)) / 1e6
  FROM doubt GROUP BY bucket
UNION ALL
SELECT 'time_to_truth', level.1, bucket, level.2
  FROM truths ARRAY JOIN arrayZip(['p50', 'p95', 'p99'], levels) AS level
UNION ALL
SELECT 'decisions', toString(decision), bucket, toFloat64(count())
  FROM facts WHERE kind = 'decided' AND decision != '' GROUP BY decision, bucket
UNION ALL
SELECT 'provider_errors', trimRight(concat(outcome, ' ', provider_code)) AS name, bucket,
       toFloat64(count())
  FROM facts WHERE outcome NOT IN ('', 'accepted') GROUP BY name, bucket
UNION ALL
SELECT 'dispatch_latency', level.1, bucket, level.2
  FROM latencies ARRAY JOIN arrayZip(['p50', 'p95', 'p99'], levels) AS level

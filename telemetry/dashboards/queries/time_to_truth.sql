-- From the first send to the proven outcome, in seconds.
SELECT quantileExact(0.5)(seconds) AS p50_s, quantileExact(0.95)(seconds) AS p95_s,
       quantileExact(0.99)(seconds) AS p99_s, count() AS operations
  FROM (SELECT operation_id, minIf(at, kind = 'sent') AS sent,
               minIf(at, state IN ('confirmed', 'failed')) AS ended,
               dateDiff('millisecond', sent, ended) / 1000 AS seconds
          FROM outlive_events_once
         GROUP BY operation_id
        HAVING countIf(kind = 'sent') > 0 AND countIf(state IN ('confirmed', 'failed')) > 0
           AND ended >= {from:DateTime64(3, 'UTC')} AND ended < {to:DateTime64(3, 'UTC')})

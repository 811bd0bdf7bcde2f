-- How long authorized operations waited for their first send, and how many never left.
SELECT quantileExactIf(0.5)(seconds, sent) AS p50_s, quantileExactIf(0.95)(seconds, sent) AS p95_s,
       countIf(NOT sent) AS not_sent, count() AS authorized
  FROM (SELECT operation_id, countIf(kind = 'sent') > 0 AS sent,
               dateDiff('millisecond', minIf(at, kind = 'authorized'), minIf(at, kind = 'sent'))
                   / 1000 AS seconds
          FROM outlive_events_once
         GROUP BY operation_id
        HAVING minIf(at, kind = 'authorized') >= {from:DateTime64(3, 'UTC')}
           AND minIf(at, kind = 'authorized') < {to:DateTime64(3, 'UTC')})

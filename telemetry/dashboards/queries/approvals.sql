-- Approvals by operation type: what waits and since when, how long people took, and which share of
-- what ended nobody decided.
SELECT type, countIf(ended_at IS NULL) AS waiting,
       if(waiting = 0, NULL, minIf(asked_at, ended_at IS NULL)) AS oldest,
       countIf(ended IN ('approved', 'rejected') AND in_time) AS decided,
       quantileExactIf(0.5)(seconds, ended IN ('approved', 'rejected') AND in_time) AS p50_s,
       quantileExactIf(0.95)(seconds, ended IN ('approved', 'rejected') AND in_time) AS p95_s,
       countIf(ended = 'expired' AND in_time) AS expired,
       if(decided + expired = 0, NULL, expired / (decided + expired)) AS expired_share
  FROM (SELECT type, ended, asked_at, ended_at,
               ended_at >= {from:DateTime64(3, 'UTC')} AND ended_at < {to:DateTime64(3, 'UTC')}
                   AS in_time,
               ifNull(dateDiff('millisecond', asked_at, ended_at), 0) / 1000 AS seconds
          FROM outlive_matters_once
         WHERE what = 'proposal')
 GROUP BY type ORDER BY type

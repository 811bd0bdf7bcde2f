-- How long people took to decide, over time, and which share lapsed.
SELECT toStartOfInterval(ended_at, INTERVAL {step:UInt32} SECOND) AS time,
       quantileExactIf(0.5)(dateDiff('millisecond', asked_at, assumeNotNull(ended_at)) / 1000,
                            ended != 'expired') AS p50_s,
       quantileExactIf(0.95)(dateDiff('millisecond', asked_at, assumeNotNull(ended_at)) / 1000,
                             ended != 'expired') AS p95_s,
       countIf(ended = 'expired') / count() AS expired_share
  FROM outlive_matters_once
 WHERE what = 'proposal' AND ended IN ('approved', 'rejected', 'expired')
   AND ended_at >= {from:DateTime64(3, 'UTC')} AND ended_at < {to:DateTime64(3, 'UTC')}
 GROUP BY time ORDER BY time

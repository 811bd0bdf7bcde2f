-- Operations by the state that their history reached, over time.
SELECT toStartOfInterval(at, INTERVAL {step:UInt32} SECOND) AS time, state,
       uniqExact(operation_id) AS operations
  FROM outlive_events_once
 WHERE at >= {from:DateTime64(3, 'UTC')} AND at < {to:DateTime64(3, 'UTC')} AND state != ''
 GROUP BY time, state ORDER BY time, state

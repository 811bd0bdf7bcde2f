-- Questions put to people, by reason, and when the latest was put.
SELECT decision AS reason, count() AS questions, max(at) AS latest
  FROM outlive_events_once
 WHERE at >= {from:DateTime64(3, 'UTC')} AND at < {to:DateTime64(3, 'UTC')}
   AND action = 'escalate'
 GROUP BY reason ORDER BY questions DESC

-- Recovery's decisions by code.
SELECT decision, action, count() AS decisions
  FROM outlive_events_once
 WHERE at >= {from:DateTime64(3, 'UTC')} AND at < {to:DateTime64(3, 'UTC')}
   AND kind = 'decided'
 GROUP BY decision, action ORDER BY decisions DESC

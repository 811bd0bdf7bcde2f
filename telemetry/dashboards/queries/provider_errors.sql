-- What providers answered, other than yes.
SELECT provider, outcome, provider_code, http_status, count() AS attempts
  FROM outlive_events_once
 WHERE at >= {from:DateTime64(3, 'UTC')} AND at < {to:DateTime64(3, 'UTC')}
   AND outcome NOT IN ('', 'accepted')
 GROUP BY provider, outcome, provider_code, http_status ORDER BY attempts DESC

-- What was sent and has no proven outcome: how many, how much in each currency, since when.
SELECT currency, count() AS operations, sum(amount) AS amount_minor, min(since) AS oldest
  FROM (SELECT operation_id, any(amount_minor) AS amount, any(currency) AS currency,
               argMax(state, seq) AS last_state, minIf(at, kind = 'sent') AS since
          FROM outlive_events_once
         WHERE state != ''
         GROUP BY operation_id)
 WHERE last_state = 'sent'
 GROUP BY currency ORDER BY currency

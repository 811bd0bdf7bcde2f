-- How a message stands. Parameter: key.
SELECT sent_at IS NOT NULL AS sent, gave_up_at IS NOT NULL AS gave_up, receipt
  FROM outbox WHERE key = %(key)s::text;

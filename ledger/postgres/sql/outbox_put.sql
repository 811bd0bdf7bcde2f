-- Put a message in; the same news is put in once. Parameters: id, kind, subject, key, payload.
INSERT INTO outbox (id, kind, subject, key, payload, created_at, due_at)
SELECT %(id)s::uuid, %(kind)s::text, %(subject)s::uuid, %(key)s::text, %(payload)s::jsonb, at, at
  FROM (SELECT ledger_now() AS at) AS clock
ON CONFLICT (key) DO NOTHING
RETURNING id;

-- Begin a session on a person's token in force. Parameters: id, hash, token_id, browser, lasts_s.
INSERT INTO sessions (id, hash, token_id, browser, created_at, used_at, expires_at)
SELECT %(id)s::uuid, %(hash)s::bytea, t.id, %(browser)s::text, at, at,
       least(t.expires_at, at + make_interval(secs => %(lasts_s)s::double precision))
  FROM (SELECT ledger_now() AS at) AS clock
  JOIN tokens t ON t.id = %(token_id)s::uuid
   AND t.revoked_at IS NULL AND t.expires_at > at AND NOT t.once AND t.role <> 'agent'
RETURNING id;

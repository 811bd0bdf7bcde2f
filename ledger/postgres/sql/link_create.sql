-- A one-time link on a token in force. Parameters: hash, token_id, lasts_s.
INSERT INTO sign_in_links (hash, token_id, created_at, expires_at)
SELECT %(hash)s::bytea, t.id, at,
       least(t.expires_at, at + make_interval(secs => %(lasts_s)s::double precision))
  FROM (SELECT ledger_now() AS at) AS clock
  JOIN tokens t ON t.id = %(token_id)s::uuid
   AND t.revoked_at IS NULL AND t.expires_at > at AND t.role <> 'agent'
RETURNING expires_at;

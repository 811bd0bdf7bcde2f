-- The session with this hash and whose it is: neither it nor its token has ended.
-- Parameters: hash, idle_s.
SELECT s.id, s.hash, s.token_id, s.created_at, s.used_at, s.expires_at, t.name, t.role
  FROM sessions s JOIN tokens t ON t.id = s.token_id
 WHERE s.hash = %(hash)s::bytea AND s.revoked_at IS NULL AND s.expires_at > ledger_now()
   AND s.used_at > ledger_now() - make_interval(secs => %(idle_s)s::double precision)
   AND t.revoked_at IS NULL AND t.expires_at > ledger_now() AND NOT t.once;

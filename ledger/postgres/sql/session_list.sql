-- Sessions in force of everybody with this name, the last used first. Parameters: person, idle_s.
SELECT s.id, s.browser, s.created_at, s.used_at, s.expires_at, t.role
  FROM sessions s JOIN tokens t ON t.id = s.token_id
 WHERE t.name = %(person)s::text AND s.revoked_at IS NULL AND s.expires_at > ledger_now()
   AND s.used_at > ledger_now() - make_interval(secs => %(idle_s)s::double precision)
   AND t.revoked_at IS NULL AND t.expires_at > ledger_now()
 ORDER BY s.used_at DESC, s.id LIMIT 50;

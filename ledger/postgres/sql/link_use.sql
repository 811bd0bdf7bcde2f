-- Use a link up: whoever comes second gets no row. Parameter: hash.
UPDATE sign_in_links l SET used_at = ledger_now()
  FROM tokens t
 WHERE l.hash = %(hash)s::bytea AND l.used_at IS NULL AND l.expires_at > ledger_now()
   AND t.id = l.token_id AND t.revoked_at IS NULL AND t.expires_at > ledger_now()
RETURNING l.token_id, t.name, t.once;

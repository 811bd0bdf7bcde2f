-- A link, used or not, and whose it is. Reading never uses it up. Parameter: hash.
SELECT l.hash, l.token_id, l.expires_at, l.used_at, t.name, t.role, t.once,
       (l.used_at IS NULL AND l.expires_at > ledger_now()
        AND t.revoked_at IS NULL AND t.expires_at > ledger_now()) AS good
  FROM sign_in_links l JOIN tokens t ON t.id = l.token_id
 WHERE l.hash = %(hash)s::bytea;

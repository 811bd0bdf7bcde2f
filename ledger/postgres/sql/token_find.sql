-- The valid token with this hash. Parameter: hash.
SELECT id, hash, name, role, once FROM tokens
 WHERE hash = %(hash)s::bytea AND revoked_at IS NULL AND expires_at > ledger_now();

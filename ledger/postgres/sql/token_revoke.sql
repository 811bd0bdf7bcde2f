-- End a token; a second time changes nothing. Parameter: id.
UPDATE tokens SET revoked_at = coalesce(revoked_at, ledger_now()) WHERE id = %(id)s::uuid
RETURNING id, name, role, created_at, created_by, expires_at, revoked_at, used_at, once;

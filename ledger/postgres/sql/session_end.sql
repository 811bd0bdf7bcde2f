-- End one session. Parameter: id.
UPDATE sessions SET revoked_at = ledger_now() WHERE id = %(id)s::uuid AND revoked_at IS NULL
RETURNING id;

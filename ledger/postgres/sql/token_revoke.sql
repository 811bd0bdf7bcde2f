-- End a token, and keep who did; a second time changes nothing. Parameters: id, by.
WITH locked AS MATERIALIZED (
    SELECT id, revoked_at FROM tokens WHERE id = %(id)s::uuid FOR UPDATE
), ended AS (
    UPDATE tokens t SET revoked_at = coalesce(t.revoked_at, ledger_now())
      FROM locked l WHERE t.id = l.id
    RETURNING t.id, t.name, t.role, t.created_at, t.created_by, t.expires_at, t.revoked_at,
              t.used_at, t.once, l.revoked_at IS NULL AS now
), deed AS (
    INSERT INTO deeds (id, at, who, what, subject, told)
    SELECT gen_random_uuid(), revoked_at, %(by)s::text, 'token.revoked', id::text,
           jsonb_build_object('name', name, 'role', role)
      FROM ended WHERE now
)
SELECT id, name, role, created_at, created_by, expires_at, revoked_at, used_at, once FROM ended;

-- Use up the token of a first sign-in: whoever comes second gets no row. The other ones that were
-- printed end with it. Parameter: id.
WITH spent AS (
    UPDATE tokens SET used_at = ledger_now(), revoked_at = ledger_now()
     WHERE id = %(id)s::uuid AND once AND revoked_at IS NULL AND expires_at > ledger_now()
    RETURNING id, name, role, revoked_at
), ended AS (
    UPDATE tokens SET revoked_at = ledger_now()
     WHERE once AND revoked_at IS NULL AND id <> %(id)s::uuid AND EXISTS (SELECT FROM spent)
    RETURNING id, name, role, revoked_at
), deed AS (
    INSERT INTO deeds (id, at, who, what, subject, told)
    SELECT gen_random_uuid(), revoked_at, 'ledger', 'token.revoked', id::text,
           jsonb_build_object('name', name, 'role', role)
      FROM (SELECT * FROM spent UNION ALL SELECT * FROM ended) AS over
)
SELECT id FROM spent;

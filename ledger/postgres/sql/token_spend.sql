-- Use up the token of a first sign-in: whoever comes second gets no row. The other ones that were
-- printed end with it. Parameter: id.
WITH spent AS (
    UPDATE tokens SET used_at = ledger_now(), revoked_at = ledger_now()
     WHERE id = %(id)s::uuid AND once AND revoked_at IS NULL AND expires_at > ledger_now()
    RETURNING id
), ended AS (
    UPDATE tokens SET revoked_at = ledger_now()
     WHERE once AND revoked_at IS NULL AND id <> %(id)s::uuid AND EXISTS (SELECT FROM spent)
)
SELECT id FROM spent;

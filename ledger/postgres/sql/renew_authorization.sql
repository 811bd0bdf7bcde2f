-- A person's *send again*: a new proof for this operation alone, under the lock that
-- `apply_decision` holds in the same transaction.
-- Parameters: id, operation_id, by, until (timestamptz).
WITH proven AS (
    INSERT INTO authorizations (id, proposal_id, decided_by, authorized_until, resend_until,
                                created_at)
    SELECT %(id)s::uuid, o.proposal_id, %(by)s::text, %(until)s::timestamptz,
           %(until)s::timestamptz, ledger_now()
      FROM operations o WHERE o.id = %(operation_id)s::uuid
    RETURNING id, authorized_until, resend_until
)
UPDATE operations o
   SET authorization_id = p.id, authorized_until = p.authorized_until,
       resend_until = p.resend_until, revoked_at = NULL
  FROM proven p WHERE o.id = %(operation_id)s::uuid
RETURNING o.id;

-- Somebody takes back what they signed, while the question is open; that they did is kept.
-- Parameters: id, by.
WITH withdrawn AS (
    DELETE FROM signatures s USING escalations e
     WHERE s.escalation_id = %(id)s::uuid AND s.signer = %(by)s::text
       AND e.id = s.escalation_id AND e.closed_at IS NULL
    RETURNING s.escalation_id, s.signer, s.answer, s.signed_at
), deed AS (
    INSERT INTO deeds (id, at, who, what, subject, told)
    SELECT gen_random_uuid(), ledger_now(), signer, 'escalation.unsigned', escalation_id::text,
           answer || jsonb_build_object('signed_at', signed_at)
      FROM withdrawn
)
SELECT answer FROM withdrawn;

-- Somebody takes back what they signed, while the question is open; that they did is kept.
-- Parameters: id, by.
WITH question AS MATERIALIZED (  -- waits for whoever is answering: they may count this signature
    SELECT id FROM escalations WHERE id = %(id)s::uuid AND closed_at IS NULL FOR UPDATE
), withdrawn AS (
    DELETE FROM signatures s USING question q
     WHERE s.escalation_id = q.id AND s.signer = %(by)s::text
    RETURNING s.escalation_id, s.signer, s.answer, s.signed_at
), deed AS (
    INSERT INTO deeds (id, at, who, what, subject, told)
    SELECT gen_random_uuid(), ledger_now(), signer, 'escalation.unsigned', escalation_id::text,
           answer || jsonb_build_object('signed_at', signed_at)
      FROM withdrawn
)
SELECT answer FROM withdrawn;

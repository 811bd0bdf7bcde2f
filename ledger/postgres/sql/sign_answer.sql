-- The first of two people signs; that they did is kept, whatever becomes of the row. No row: they
-- have signed this very answer, on this case, before.
-- Parameters: id, by, case_version, answer (JSON), digest, note.
WITH signed AS (
    INSERT INTO signatures AS known
           (escalation_id, signer, case_version, answer, digest, note, signed_at)
    VALUES (%(id)s::uuid, %(by)s::text, %(case_version)s::bigint, %(answer)s::jsonb,
            %(digest)s::text, %(note)s::text, ledger_now())
    ON CONFLICT (escalation_id, signer) DO UPDATE
       SET case_version = excluded.case_version, answer = excluded.answer,
           digest = excluded.digest, note = excluded.note, signed_at = excluded.signed_at
     WHERE known.case_version <> excluded.case_version OR known.digest <> excluded.digest
    RETURNING escalation_id, signer, answer, note, signed_at
), deed AS (
    INSERT INTO deeds (id, at, who, what, subject, told)
    SELECT gen_random_uuid(), signed_at, signer, 'escalation.signed', escalation_id::text,
           answer || jsonb_build_object('note', note)
      FROM signed
)
SELECT signer FROM signed;

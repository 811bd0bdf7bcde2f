-- A person's answer. Parameters: id, by, verdict, note.
UPDATE escalations
   SET closed_at = ledger_now(), closed_by = %(by)s::text, verdict = %(verdict)s::text,
       note = %(note)s::text
 WHERE id = %(id)s::uuid AND closed_at IS NULL
RETURNING id;

-- Keep what was gathered, with the time of it; an answered question stays as it was answered.
-- Parameters: id, evidence.
UPDATE escalations
   SET evidence = %(evidence)s::jsonb || jsonb_build_object('gathered_at', ledger_now())
 WHERE id = %(id)s::uuid AND closed_at IS NULL;

-- Call the agent of a ready run once more, as a person's deed, whose id is the form's: pressed
-- twice, it counts once. Parameters: id, turn, generation (as they were read), act, by.
WITH run AS MATERIALIZED (
    SELECT id, run_key FROM runs
     WHERE id = %(id)s::uuid AND turn = %(turn)s::integer AND generation = %(generation)s::integer
       AND state = 'ready' AND resume_url IS NOT NULL
       FOR UPDATE
), deed AS (
    INSERT INTO deeds (id, at, who, what, subject, told)
    SELECT %(act)s::uuid, ledger_now(), %(by)s::text, 'run.offered', id::text,
           jsonb_build_object('run_key', run_key, 'turn', %(turn)s::integer) FROM run
    ON CONFLICT (id) DO NOTHING
), called AS (
    INSERT INTO outbox (id, kind, subject, key, payload, created_at, due_at)
    SELECT gen_random_uuid(), 'resume', id, 'run.ready:' || id || ':again:' || %(act)s::uuid,
           jsonb_build_object('event', 'run.ready', 'turn', %(turn)s::integer,
                              'generation', %(generation)s::integer + 1),
           ledger_now(), ledger_now() FROM run
    ON CONFLICT (key) DO NOTHING
)
SELECT id FROM run;

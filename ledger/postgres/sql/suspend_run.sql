-- An agent hands a turn over: its run is known again by (agent, run_key), the turn by its digest.
-- Parameters: run (JSON), calls (JSON array).
WITH r AS MATERIALIZED (
    SELECT * FROM jsonb_to_record(%(run)s::jsonb) AS r(
        id uuid, agent text, run_key text, checkpoint jsonb, steps_used integer, resume_url text,
        turn_digest text, generation integer)
), locked AS MATERIALIZED (
    SELECT * FROM runs WHERE (agent, run_key) = (SELECT agent, run_key FROM r) FOR UPDATE
), c AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset(%(calls)s::jsonb) AS c(
        position integer, tool_call_id text, name text, input jsonb, status text, result jsonb)
), judged AS MATERIALIZED (
    SELECT l.id AS known_id, coalesce(l.turn, 0) AS turn, clock.at, CASE
        WHEN l.id IS NULL THEN 'new'
        WHEN l.turn_digest = r.turn_digest THEN 'known'
        WHEN l.state IN ('suspended', 'ready') THEN 'suspended'
        WHEN l.generation <> r.generation THEN 'fenced'
        WHEN EXISTS (SELECT FROM run_calls o JOIN c USING (tool_call_id) WHERE o.run_id = l.id)
            THEN 'reused'
        ELSE 'next' END AS verdict
      FROM r CROSS JOIN (SELECT count(*), ledger_now() AS at FROM locked) AS clock
      LEFT JOIN locked l ON true
), first AS (
    INSERT INTO runs (id, agent, run_key, checkpoint, steps_used, resume_url, state, suspended_at,
                      turn_digest, check_at)
    SELECT r.id, r.agent, r.run_key, r.checkpoint, r.steps_used, r.resume_url, 'suspended', j.at,
           r.turn_digest, j.at
      FROM r CROSS JOIN judged j WHERE j.verdict = 'new'
    ON CONFLICT (agent, run_key) DO NOTHING
    RETURNING id, turn
), again AS (
    UPDATE runs u
       SET checkpoint = r.checkpoint, steps_used = greatest(u.steps_used, r.steps_used),
           resume_url = r.resume_url, state = 'suspended', suspended_at = j.at,
           turn = u.turn + 1, turn_digest = r.turn_digest, check_at = j.at, woken_at = NULL,
           claimed_by = NULL, claimed_until = NULL, ready_at = NULL, resumed_at = NULL,
           offers = 0, offer_at = NULL
      FROM r CROSS JOIN judged j WHERE u.id = j.known_id AND j.verdict = 'next'
    RETURNING u.id, u.turn
), begun AS MATERIALIZED (
    SELECT id, turn FROM first UNION ALL SELECT id, turn FROM again
), called AS (
    INSERT INTO run_calls (run_id, position, turn, tool_call_id, name, status, input, result)
    SELECT begun.id, before.calls + c.position, begun.turn, c.tool_call_id, c.name, c.status,
           c.input, c.result
      FROM begun CROSS JOIN c CROSS JOIN LATERAL (
           SELECT coalesce(max(position), 0) AS calls FROM run_calls WHERE run_id = begun.id
      ) AS before
)
SELECT coalesce(judged.known_id, begun.id) AS id,
       CASE WHEN judged.verdict = 'new' AND begun.id IS NULL THEN 'again' ELSE judged.verdict END
       AS verdict
  FROM judged LEFT JOIN begun ON true;

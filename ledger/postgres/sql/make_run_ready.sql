-- Every call of the turn has its result: the run may be claimed. A no-op if it has moved on.
-- Parameters: id, turn, moves (JSON array; as in move_calls).
WITH locked AS MATERIALIZED (
    SELECT * FROM runs WHERE id = %(id)s::uuid FOR UPDATE
), due AS MATERIALIZED (
    SELECT l.*, clock.at FROM locked l
     CROSS JOIN (SELECT count(*), ledger_now() AS at FROM locked) AS clock
     WHERE l.state = 'suspended' AND l.turn = %(turn)s::integer
), told AS (
    UPDATE run_calls c SET status = m.after, result = m.result
      FROM due, jsonb_to_recordset(%(moves)s::jsonb) AS m(
               position integer, before text, after text, result jsonb)
     WHERE c.run_id = due.id AND c.position = m.position AND c.status = m.before
), ready AS (
    UPDATE runs r SET state = 'ready', ready_at = due.at, check_at = NULL, offers = 0,
                      offer_at = due.at
      FROM due WHERE r.id = due.id
    RETURNING r.id, r.turn, r.run_key, r.ready_at AS at
), news AS (
    INSERT INTO outbox (id, kind, subject, key, payload, created_at, due_at)
    SELECT gen_random_uuid(), 'news', id, 'run.ready:' || id || ':' || turn,
           jsonb_build_object('event', 'run.ready', 'turn', turn), at, at FROM ready
    ON CONFLICT (key) DO NOTHING
)
SELECT id FROM ready;

-- The truth about a call follows: kept with the run, and sent after it. Parameters: run_id,
-- position, result.
WITH told AS (
    UPDATE run_calls SET status = 'done', result = %(result)s::jsonb
     WHERE run_id = %(run_id)s::uuid AND position = %(position)s::integer AND status = 'in_doubt'
    RETURNING run_id, position, turn, tool_call_id, result
)
INSERT INTO outbox (id, kind, subject, key, payload, created_at, due_at)
SELECT gen_random_uuid(), channel.kind, told.run_id,
       channel.kind || ':run.late_truth:' || told.run_id || ':' || told.position,
       jsonb_build_object('event', 'run.late_truth', 'turn', told.turn,
                          'tool_call_id', told.tool_call_id, 'result', told.result),
       clock.at, clock.at
  FROM told JOIN runs r ON r.id = told.run_id
 CROSS JOIN (SELECT ledger_now() AS at) AS clock
 CROSS JOIN LATERAL (SELECT 'news' AS kind UNION ALL
                     SELECT 'resume' WHERE r.resume_url IS NOT NULL) AS channel
ON CONFLICT (key) DO NOTHING
RETURNING id;

-- Calls of a run change hands, each only from where it was thought to stand; all of those named
-- together are locked first, in one order. Parameters: run_id, moves (JSON array).
WITH m AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset(%(moves)s::jsonb) AS m(
        position integer, before text, after text, proposal_id uuid, item integer, result jsonb)
), locked AS MATERIALIZED (
    SELECT c.position, c.status FROM run_calls c JOIN m USING (position)
     WHERE c.run_id = %(run_id)s::uuid ORDER BY c.position FOR UPDATE OF c
)
UPDATE run_calls c
   SET status = m.after, proposal_id = coalesce(m.proposal_id, c.proposal_id),
       item = coalesce(m.item, c.item), result = coalesce(m.result, c.result)
  FROM m JOIN locked l USING (position)
 WHERE c.run_id = %(run_id)s::uuid AND c.position = m.position AND l.status = m.before
RETURNING c.position;

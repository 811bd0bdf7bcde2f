-- What was put before people, as far as a copy of it lacks or misses something: the next ones since
-- a time that it does not know, and those that it holds as open and that have moved on since.
-- Parameters: since, known (ids since then), open_ids and open_marks (how it holds those), most.
WITH held AS MATERIALIZED (
    SELECT * FROM unnest(%(open_ids)s::uuid[], %(open_marks)s::text[]) AS held(id, mark)
), proposal_ids AS MATERIALIZED (
    (SELECT id FROM proposals
      WHERE mode = 'human' AND created_at >= %(since)s::timestamptz
        AND id <> ALL(%(known)s::uuid[])
      ORDER BY created_at, id LIMIT %(most)s::integer)
    UNION ALL
    SELECT p.id FROM held JOIN proposals p USING (id) WHERE p.state <> 'awaiting'
), question_ids AS MATERIALIZED (
    (SELECT id FROM escalations
      WHERE id >= uuid_floor(%(since)s::timestamptz - interval '30 days')
        AND opened_at >= %(since)s::timestamptz AND id <> ALL(%(known)s::uuid[])
      ORDER BY opened_at, id LIMIT %(most)s::integer)
    UNION ALL
    SELECT e.id FROM held JOIN escalations e USING (id)
     WHERE e.closed_at IS NOT NULL OR array_to_string(e.reasons, ',') <> held.mark
), matters AS (
    SELECT 'proposal' AS what, p.id, p.type, coalesce(p.rule, '') AS rule, '{}'::text[] AS reasons,
           p.items, money.amount_minor, money.currency, p.created_at AS asked_at,
           p.decided_at AS ended_at, CASE WHEN p.state = 'awaiting' THEN '' ELSE p.state END AS ended
      FROM proposal_ids JOIN proposals p USING (id)
     CROSS JOIN LATERAL (
           SELECT CASE WHEN count(DISTINCT prepared->>'currency') = 1
                       THEN sum((prepared->>'amount_minor')::bigint)::bigint END AS amount_minor,
                  CASE WHEN count(DISTINCT prepared->>'currency') = 1
                       THEN min(prepared->>'currency') END AS currency
             FROM proposal_items i WHERE i.proposal_id = p.id) AS money
    UNION ALL
    SELECT 'question', e.id, e.scope, '', e.reasons, 1, e.amount_minor, e.currency, e.opened_at,
           e.closed_at, coalesce(e.verdict, '')
      FROM question_ids JOIN escalations e USING (id)
)
SELECT * FROM matters ORDER BY asked_at, id LIMIT %(most)s::integer;

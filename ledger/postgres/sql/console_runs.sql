-- Runs that have not gone on, the newest suspension first, without their checkpoints: their calls
-- counted by result, and the first that still wait. Parameters: id (or null), before (or null),
-- limit.
SELECT r.id, r.agent, r.run_key, r.state, r.turn, r.generation, r.steps_used, r.claimed_by,
       r.claimed_until, r.suspended_at, r.ready_at, r.resumed_at, r.offers, r.offer_at,
       r.resume_url IS NOT NULL AS callable, told.counts, told.calls, told.open
  FROM ((SELECT * FROM runs WHERE id = %(id)s::uuid)
         UNION ALL
        -- Few, by an index of their own: the offset keeps the planner from walking back through
        -- those that have gone on.
        (SELECT * FROM (SELECT * FROM runs
                         WHERE state <> 'resumed' AND %(id)s::uuid IS NULL
                           AND (%(before)s::uuid IS NULL OR id < %(before)s::uuid)
                        OFFSET 0) AS open
          ORDER BY id DESC LIMIT %(limit)s::integer)) AS r
  CROSS JOIN LATERAL (
      SELECT sum(n)::integer AS calls, jsonb_object_agg(result, n) AS counts,
             (SELECT jsonb_agg(to_jsonb(w)) FROM (
                 SELECT c.name, c.status, c.proposal_id FROM run_calls c
                  WHERE c.run_id = r.id AND c.turn = r.turn AND c.status NOT IN ('done', 'deferred')
                  ORDER BY c.position LIMIT 5) w) AS open
        FROM (SELECT CASE WHEN c.status <> 'done' THEN c.status
                          WHEN c.proposal_id IS NULL THEN 'own'
                          ELSE coalesce(c.result ->> 'status', 'done') END AS result,
                     count(*) AS n
                FROM run_calls c WHERE c.run_id = r.id AND c.turn = r.turn GROUP BY 1) each
  ) AS told
 ORDER BY r.id DESC;

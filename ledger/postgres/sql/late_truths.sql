-- Calls whose agent was told `in_doubt`, and whose operations are all final now. Parameter: limit.
SELECT c.run_id, c.position, c.turn FROM run_calls c
 WHERE c.status = 'in_doubt' AND NOT EXISTS (
       SELECT FROM operations o
        WHERE o.proposal_id = newest_of(c.proposal_id) AND o.state IN ('created', 'sent'))
 ORDER BY c.run_id, c.position LIMIT %(limit)s::integer;

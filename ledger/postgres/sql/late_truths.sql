-- Calls whose agent was told `in_doubt`, and whose truth is known now. Parameter: limit.
SELECT c.run_id, c.position, c.turn FROM run_calls c JOIN proposals p ON p.id = c.proposal_id
 WHERE c.status = 'in_doubt' AND NOT EXISTS (
       SELECT FROM operations o WHERE o.proposal_id = c.proposal_id
          AND o.state IN ('created', 'sent'))
 ORDER BY c.run_id, c.position LIMIT %(limit)s::integer;

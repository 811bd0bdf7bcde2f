-- Proposals with approved items that the world overtook, and what became of the others.
-- Parameter: limit.
SELECT w.proposal_id AS id,
       (SELECT array_agg(o.operation_id) FROM overtaken o
         WHERE o.proposal_id = w.proposal_id AND o.done_at IS NULL) AS operation_ids,
       (SELECT a.id FROM authorizations a WHERE a.proposal_id = w.proposal_id
         ORDER BY a.created_at LIMIT 1) AS authorization_id,
       EXISTS (SELECT FROM authorizations a WHERE a.proposal_id = w.proposal_id
                  AND a.revoked_by = 'ledger:overtaken') AS revoked,
       bool_or(x.attempt_count > 0) AS some_left,
       bool_or(x.state = 'created') AS some_may_leave
  FROM (SELECT DISTINCT proposal_id FROM overtaken WHERE done_at IS NULL
         ORDER BY proposal_id LIMIT %(limit)s::integer) AS w
  JOIN operations x ON x.proposal_id = w.proposal_id
 GROUP BY w.proposal_id ORDER BY w.proposal_id;

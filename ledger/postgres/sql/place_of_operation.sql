-- The proposal that an operation is, or will be, an item of. Parameter: id.
SELECT p.id AS proposal_id, p.requested_by FROM operations o
  JOIN proposals p ON p.id = o.proposal_id WHERE o.id = %(id)s::uuid
UNION ALL
SELECT p.id, p.requested_by FROM proposal_items i
  JOIN proposals p ON p.id = i.proposal_id
 WHERE i.operation_id = %(id)s::uuid
   AND NOT EXISTS (SELECT FROM operations o WHERE o.id = %(id)s::uuid);

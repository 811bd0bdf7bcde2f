-- The proposals that operations are, or will be, items of. Parameter: ids.
SELECT w.id, p.id AS proposal_id, p.requested_by
  FROM unnest(%(ids)s::uuid[]) AS w(id)
  LEFT JOIN operations o ON o.id = w.id
  LEFT JOIN proposal_items i ON o.id IS NULL AND i.operation_id = w.id
  JOIN proposals p ON p.id = coalesce(o.proposal_id, i.proposal_id);

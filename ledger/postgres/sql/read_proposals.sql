-- Proposals with their votes and items' operation ids. Parameter: ids.
SELECT p.*,
       coalesce((SELECT array_agg(v.voter ORDER BY v.voted_at) FROM votes v
                  WHERE v.proposal_id = p.id), '{}') AS voters,
       coalesce((SELECT array_agg(i.operation_id ORDER BY i.item) FROM proposal_items i
                  WHERE i.proposal_id = p.id),
                (SELECT array_agg(o.id ORDER BY o.item) FROM operations o
                  WHERE o.proposal_id = p.id), '{}') AS operation_ids
  FROM proposals p WHERE p.id = ANY(%(ids)s::uuid[])
 ORDER BY p.created_at, p.id;

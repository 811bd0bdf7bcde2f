-- A decided proposal with its first authorization and its operations. Parameter: id.
SELECT p.id,
       (SELECT a.id FROM authorizations a WHERE a.proposal_id = p.id
         ORDER BY a.created_at LIMIT 1) AS authorization_id,
       (SELECT array_agg(o.id ORDER BY o.item) FROM operations o WHERE o.proposal_id = p.id)
       AS operation_ids
  FROM proposals p WHERE p.id = %(id)s::uuid;

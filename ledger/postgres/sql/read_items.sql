-- The items of a proposal. Parameter: id.
SELECT item, operation_id, target, request_digest, prepared
  FROM proposal_items WHERE proposal_id = %(id)s::uuid ORDER BY item;

-- Items of a proposal with what became of them: those named, and a page after a number.
-- Parameters: id, named (numbers), after, limit.
SELECT i.item, i.operation_id, i.prepared ->> 'object_id' AS object_id,
       (i.prepared ->> 'amount_minor')::bigint AS amount_minor, i.prepared ->> 'currency' AS currency,
       i.prepared -> 'snapshot' -> 'remaining_minor' AS remaining_minor,
       i.prepared ->> 'request' AS request, i.request_digest,
       o.state, o.in_doubt, o.escalated, o.attempt_count, o.revoked_at, o.failure_code
  FROM proposal_items i LEFT JOIN operations o ON o.id = i.operation_id
 WHERE i.proposal_id = %(id)s::uuid
   AND (i.item = ANY(%(named)s::integer[])
        OR (i.item > %(after)s::integer AND i.item <= %(after)s::integer + %(limit)s::integer))
 ORDER BY i.item;

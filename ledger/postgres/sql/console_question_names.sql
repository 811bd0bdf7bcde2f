-- What questions are about, by their ids. Parameter: ids.
SELECT e.id, e.scope, e.operation_id, e.provider, o.type, o.object_id
  FROM escalations e LEFT JOIN operations o ON o.id = e.operation_id
 WHERE e.id = ANY(%(ids)s::uuid[]);

-- The entries of a checkpoint in the order of its root, with the events that they name as these
-- are now. Parameter: number.
SELECT c.operation_id, c.seq, c.hash, e.hash AS event_hash, o.id IS NOT NULL AS operation_stands
  FROM checkpoint_entries c
  LEFT JOIN events e ON e.operation_id = c.operation_id AND e.seq = c.seq
  LEFT JOIN operations o ON o.id = c.operation_id
 WHERE c.number = %(number)s::bigint ORDER BY c.operation_id;

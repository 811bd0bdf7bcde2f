-- Whether a write stands: its event carries the id that the writer gave it, and the attempt that
-- began with it, if one did. Parameters: id, event_id.
SELECT e.seq, e.at, e.kind, a.number, a.started_at, a.send_not_after
  FROM events e
  LEFT JOIN attempts a ON a.operation_id = e.operation_id AND a.started_at = e.at
 WHERE e.operation_id = %(id)s::uuid AND e.id = %(event_id)s::uuid
 ORDER BY a.number DESC LIMIT 1;  -- a test's clock may stand still between two attempts

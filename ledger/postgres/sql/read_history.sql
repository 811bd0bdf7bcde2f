-- The history of an operation, oldest first, with what its events tell (null where that was
-- erased). Parameters: id, most.
SELECT e.seq, e.id, e.kind, e.actor, e.at, p.payload
  FROM events e LEFT JOIN event_payloads p USING (operation_id, seq)
 WHERE e.operation_id = %(id)s::uuid
 ORDER BY e.seq LIMIT %(most)s::integer;

-- Runs with the calls of their current turn. Parameter: ids.
SELECT r.*, (SELECT jsonb_agg(to_jsonb(c) ORDER BY c.position) FROM run_calls c
              WHERE c.run_id = r.id AND c.turn = r.turn) AS call_rows
  FROM runs r WHERE r.id = ANY(%(ids)s::uuid[]) ORDER BY r.suspended_at, r.id;

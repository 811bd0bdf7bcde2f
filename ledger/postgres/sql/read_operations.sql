-- Operations with their authorization and attempts. Parameter: ids.
SELECT o.*, to_jsonb(a) AS auth, coalesce(tries.attempts, '[]') AS attempt_rows
  FROM operations o
  JOIN authorizations a ON a.id = o.authorization_id
  LEFT JOIN LATERAL (
      SELECT jsonb_agg(to_jsonb(t) ORDER BY t.number) AS attempts
        FROM attempts t WHERE t.operation_id = o.id) AS tries ON true
 WHERE o.id = ANY(%(ids)s::uuid[])
 ORDER BY o.window_started_at NULLS LAST, o.id;

-- Runs, the newest suspension first. Parameters: agent (or null), state (or null), before, limit.
SELECT r.*, (SELECT jsonb_agg(to_jsonb(c) ORDER BY c.position) FROM run_calls c
              WHERE c.run_id = r.id AND c.turn = r.turn) AS call_rows
  FROM runs r
 WHERE (%(agent)s::text IS NULL OR r.agent = %(agent)s::text)
   AND (%(state)s::text IS NULL OR r.state = %(state)s::text)
   AND (%(before)s::uuid IS NULL OR r.id < %(before)s::uuid)
 ORDER BY r.id DESC LIMIT %(limit)s::integer;

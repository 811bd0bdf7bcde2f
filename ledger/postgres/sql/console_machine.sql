-- In doubt and not before a person: what the machine is on, the next look first. Parameter: limit.
SELECT id, type, object_id, amount_minor, currency, decision, next_check_at, window_started_at,
       count(*) OVER () AS total
  FROM operations WHERE in_doubt AND NOT escalated
 ORDER BY next_check_at NULLS LAST, id LIMIT %(limit)s::integer;

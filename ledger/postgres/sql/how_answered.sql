-- How an attempt's answer was taken, if this is the one that it has; no row where there is no
-- such attempt. Parameters: id, number, answer (JSON).
SELECT NOT late AND answer = %(answer)s::jsonb AS held, finished_at AS at
  FROM attempts WHERE operation_id = %(id)s::uuid AND number = %(number)s::integer;

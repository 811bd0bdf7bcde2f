-- Keep what came of it. Parameters: by, request_key, result (JSON).
UPDATE bulk_answers SET result = %(result)s::jsonb
 WHERE answered_by = %(by)s::text AND request_key = %(request_key)s::text
RETURNING request_key;

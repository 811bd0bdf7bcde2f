-- Where an act led, if it did. Parameters: session_id, id, path.
SELECT led_to FROM acts
 WHERE session_id = %(session_id)s::uuid AND id = %(id)s::uuid AND path = %(path)s::text;

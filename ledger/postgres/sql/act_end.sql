-- Keep where an act led. Parameters: session_id, id, led_to.
UPDATE acts SET led_to = %(led_to)s::text
 WHERE session_id = %(session_id)s::uuid AND id = %(id)s::uuid;

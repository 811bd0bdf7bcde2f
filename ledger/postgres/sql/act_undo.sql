-- Forget an act that did nothing: pressing again is a new try. Parameters: session_id, id.
DELETE FROM acts
 WHERE session_id = %(session_id)s::uuid AND id = %(id)s::uuid AND led_to IS NULL;

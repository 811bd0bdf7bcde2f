-- Which requests came before. Parameters: requested_by, request_keys.
SELECT request_key FROM proposals
 WHERE requested_by = %(requested_by)s::text AND request_key = ANY(%(request_keys)s::text[]);

-- What a request key made before. Parameters: requested_by, request_key.
SELECT id, input_digest FROM proposals
 WHERE requested_by = %(requested_by)s::text AND request_key = %(request_key)s::text;

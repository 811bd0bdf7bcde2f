-- What a request that answers many questions did. Parameters: by, request_key.
SELECT digest, result FROM bulk_answers
 WHERE answered_by = %(by)s::text AND request_key = %(request_key)s::text;

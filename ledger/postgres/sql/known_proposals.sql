-- What request keys made before. Parameters: agents, keys (arrays of equal length).
SELECT p.id, p.requested_by, p.request_key, p.input_digest
  FROM unnest(%(agents)s::text[], %(keys)s::text[]) AS asked(requested_by, request_key)
  JOIN proposals p USING (requested_by, request_key);

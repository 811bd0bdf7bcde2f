-- Names that may have acted here, for a field's suggestions. Parameter: limit.
SELECT DISTINCT CASE role WHEN 'agent' THEN 'agent:' ELSE 'person:' END || name AS actor
  FROM tokens ORDER BY actor LIMIT %(limit)s::integer;

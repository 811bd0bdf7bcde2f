-- The operation that a provider's event concerns: by our id in its metadata, else by the effect's
-- reference, else by the idempotency key of the request that caused it.
-- Parameters: provider, marked, reference, key (each or null).
SELECT id FROM (
    SELECT id, 1 AS turn FROM operations
     WHERE id = %(marked)s::uuid AND provider = %(provider)s::text
    UNION ALL
    SELECT id, 2 FROM operations
     WHERE reference = %(reference)s::text AND provider = %(provider)s::text
    UNION ALL
    SELECT id, 3 FROM operations WHERE id = %(key)s::uuid AND provider = %(provider)s::text
) AS found ORDER BY turn LIMIT 1;

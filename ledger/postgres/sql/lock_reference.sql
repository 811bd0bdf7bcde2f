-- One person at a time says whose an effect is; the next statement sees what the others said.
-- Parameters: provider, reference.
SELECT pg_advisory_xact_lock(8788, hashtext(%(provider)s::text || '/' || %(reference)s::text));

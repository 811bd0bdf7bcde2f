-- A policy file was read: in force, or broken while the one before stays. Told once, until
-- something else was read. Parameters: what, version (in force), digest (of the file), told (JSON).
INSERT INTO deeds (id, at, who, what, subject, told)
SELECT gen_random_uuid(), ledger_now(), 'ledger', %(what)s::text, %(version)s::text, %(told)s::jsonb
 WHERE (%(what)s::text, %(version)s::text, %(digest)s::text) IS DISTINCT FROM (
       SELECT (what, subject, told ->> 'digest') FROM deeds
        WHERE what IN ('policy.loaded', 'policy.broken') ORDER BY at DESC, id DESC LIMIT 1)
RETURNING id;

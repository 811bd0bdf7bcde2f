-- Begin a session on a person's token in force, and keep that they signed in.
-- Parameters: id, hash, token_id, browser, lasts_s.
WITH begun AS (
    INSERT INTO sessions (id, hash, token_id, browser, created_at, used_at, expires_at)
    SELECT %(id)s::uuid, %(hash)s::bytea, t.id, %(browser)s::text, at, at,
           least(t.expires_at, at + make_interval(secs => %(lasts_s)s::double precision))
      FROM (SELECT ledger_now() AS at) AS clock
      JOIN tokens t ON t.id = %(token_id)s::uuid
       AND t.revoked_at IS NULL AND t.expires_at > at AND NOT t.once AND t.role <> 'agent'
    RETURNING id, token_id, browser, created_at
), deed AS (
    INSERT INTO deeds (id, at, who, what, subject, told)
    SELECT gen_random_uuid(), b.created_at, 'person:' || t.name, 'session.begun', b.id::text,
           jsonb_build_object('browser', b.browser, 'role', t.role)
      FROM begun b JOIN tokens t ON t.id = b.token_id
)
SELECT id FROM begun;

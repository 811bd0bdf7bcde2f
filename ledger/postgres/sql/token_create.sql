-- Make a token, and keep who did. Parameters: id, hash, name, role, by, lasts_s, once.
WITH made AS (
    INSERT INTO tokens (id, hash, name, role, created_at, created_by, expires_at, once)
    SELECT %(id)s::uuid, %(hash)s::bytea, %(name)s::text, %(role)s::text, at, %(by)s::text,
           at + make_interval(secs => %(lasts_s)s::double precision), %(once)s::boolean
      FROM (SELECT ledger_now() AS at) AS clock
    RETURNING id, name, role, created_at, created_by, expires_at, revoked_at, used_at, once
), deed AS (
    INSERT INTO deeds (id, at, who, what, subject, told)
    SELECT gen_random_uuid(), created_at, created_by, 'token.made', id::text,
           jsonb_build_object('name', name, 'role', role, 'expires_at', expires_at)
      FROM made
)
SELECT * FROM made;

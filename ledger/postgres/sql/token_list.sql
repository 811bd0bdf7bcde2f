-- Tokens, the newest first. Parameters: after (an id, or null), limit.
SELECT id, name, role, created_at, created_by, expires_at, revoked_at, used_at, once FROM tokens
 WHERE id < coalesce(%(after)s::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
 ORDER BY id DESC LIMIT %(limit)s::integer;

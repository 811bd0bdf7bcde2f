-- People with a token in force in one of these roles, by name. Parameter: roles.
SELECT DISTINCT name FROM tokens
 WHERE role = ANY(%(roles)s::text[]) AND role <> 'agent' AND revoked_at IS NULL AND NOT once
   AND expires_at > ledger_now()
 ORDER BY name;

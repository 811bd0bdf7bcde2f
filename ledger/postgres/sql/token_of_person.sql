-- The token in force that a person's link may lend: the one that lasts longest. Parameter: person.
SELECT id, name, role FROM tokens
 WHERE name = %(person)s::text AND role <> 'agent' AND NOT once
   AND revoked_at IS NULL AND expires_at > ledger_now()
 ORDER BY expires_at DESC, id DESC LIMIT 1;

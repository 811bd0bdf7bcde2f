-- Whether anybody can sign in as things stand.
SELECT id FROM tokens
 WHERE NOT once AND revoked_at IS NULL AND expires_at > ledger_now() LIMIT 1;

-- End every session of a person, whichever token it began with, and the links that lie unused.
-- Parameter: person.
WITH theirs AS (SELECT id FROM tokens WHERE name = %(person)s::text),
     unused AS (
    UPDATE sign_in_links SET used_at = ledger_now()
     WHERE token_id IN (SELECT id FROM theirs) AND used_at IS NULL)
UPDATE sessions SET revoked_at = ledger_now()
 WHERE token_id IN (SELECT id FROM theirs) AND revoked_at IS NULL
RETURNING id;

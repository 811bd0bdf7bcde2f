-- The person behind a Slack account, if they may decide now: known, and with a token in force for it.
-- Parameter: slack_id.
SELECT p.name FROM people p
 WHERE p.slack_id = %(slack_id)s::text AND EXISTS (
       SELECT FROM tokens t
        WHERE t.name = p.name AND t.role IN ('approver', 'admin') AND t.revoked_at IS NULL
          AND NOT t.once AND t.expires_at > ledger_now());

-- Everybody with a Slack account, and whether a token lets them decide now.
SELECT p.name, p.slack_id, EXISTS (
       SELECT FROM tokens t
        WHERE t.name = p.name AND t.role IN ('approver', 'admin') AND t.revoked_at IS NULL
          AND NOT t.once AND t.expires_at > ledger_now()) AS decides
  FROM people p ORDER BY p.name;

-- A person, and their Slack account; one they had before is replaced. No row where the account is
-- somebody else's. Parameters: person, slack_id.
INSERT INTO people (name, slack_id)
SELECT %(person)s::text, %(slack_id)s::text
 WHERE NOT EXISTS (SELECT FROM people WHERE slack_id = %(slack_id)s::text AND name <> %(person)s::text)
ON CONFLICT (name) DO UPDATE SET slack_id = excluded.slack_id
RETURNING name;

-- Forget a person's Slack account. Parameter: person.
DELETE FROM people WHERE name = %(person)s::text RETURNING name;

-- Whether a name belongs to the other kind: a person's is never an agent's. Parameters: name, agent.
SELECT id FROM tokens
 WHERE name = %(name)s::text AND (role = 'agent') <> %(agent)s::boolean AND NOT once LIMIT 1;

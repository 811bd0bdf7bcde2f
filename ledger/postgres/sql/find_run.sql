-- A run by its agent's own name for it. Parameters: agent, run_key.
SELECT id FROM runs WHERE agent = %(agent)s::text AND run_key = %(run_key)s::text;

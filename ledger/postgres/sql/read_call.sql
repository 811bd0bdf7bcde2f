-- One call of a run, of any turn. Parameters: run_id, position.
SELECT * FROM run_calls
 WHERE run_id = %(run_id)s::uuid AND position = %(position)s::integer;

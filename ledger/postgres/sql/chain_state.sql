-- The last signed checkpoint, if there is one.
SELECT number, at, key_id FROM checkpoints ORDER BY number DESC LIMIT 1;

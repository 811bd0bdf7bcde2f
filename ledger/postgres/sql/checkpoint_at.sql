-- When a checkpoint was signed. Parameters: epoch, number.
SELECT at FROM checkpoints WHERE number = %(number)s::bigint AND epoch = %(epoch)s::integer;

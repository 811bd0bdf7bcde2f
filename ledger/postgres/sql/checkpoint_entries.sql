-- The entries of a checkpoint in the order of its root. Parameter: number.
SELECT operation_id, seq, hash FROM checkpoint_entries
 WHERE number = %(number)s::bigint ORDER BY operation_id;

-- Make the partitions of the coming months. Parameter: months_ahead.
SELECT ensure_partitions(%(months_ahead)s::integer);

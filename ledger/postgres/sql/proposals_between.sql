-- At most two proposals whose ids lie in a range: what a beginning of an id stands for.
-- Parameters: lowest, highest.
SELECT id FROM proposals
 WHERE id BETWEEN %(lowest)s::uuid AND %(highest)s::uuid ORDER BY id LIMIT 2;

-- The gate's first statement: wait for whoever is writing on the targets. The second one, in the
-- same transaction, then sees what they wrote, even rows that did not exist when this one began.
-- Parameter: ids.
SELECT id FROM operations
 WHERE target IN (SELECT target FROM operations WHERE id = ANY(%(ids)s::uuid[]))
   AND (state IN ('created', 'sent') OR escalated)
 ORDER BY id FOR UPDATE;

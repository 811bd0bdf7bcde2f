-- Wait for whoever is writing the operation. What it wrote is visible to the next statement only:
-- this one's snapshot is older than its own wait. Parameter: id.
SELECT id FROM operations WHERE id = %(id)s::uuid FOR UPDATE;

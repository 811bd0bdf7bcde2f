-- One escalation, by its id or by its operation (the open one first). Parameter: id.
SELECT e.* FROM escalations e
 WHERE e.id = %(id)s::uuid OR e.operation_id = %(id)s::uuid
 ORDER BY e.closed_at IS NOT NULL, e.opened_at DESC LIMIT 1;

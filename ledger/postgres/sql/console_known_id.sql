-- What an id is the id of, if this ledger knows it. Parameter: id.
SELECT 'operation' AS kind FROM operations WHERE id = %(id)s::uuid
 UNION ALL SELECT 'proposal' FROM proposals WHERE id = %(id)s::uuid
 UNION ALL SELECT 'escalation' FROM escalations WHERE id = %(id)s::uuid
 UNION ALL SELECT 'run' FROM runs WHERE id = %(id)s::uuid
 LIMIT 1;

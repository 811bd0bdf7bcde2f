-- Effects that exist already, in a few words. Parameter: ids.
SELECT id, state, in_doubt, escalated, amount_minor, currency, created_at, reference
  FROM operations WHERE id = ANY(%(ids)s::uuid[]) ORDER BY created_at DESC, id DESC;

-- Answered questions of the last 91 days, the last answer first.
-- Parameters: after (a question's id: those behind it, or null), limit.
SELECT e.id, e.scope, e.operation_id, e.provider, e.account, e.reasons, cardinality(e.members) AS members,
       e.opened_at, e.amount_minor, e.currency, e.closed_at, e.closed_by, e.verdict, e.note,
       o.type, o.object_id, o.state, o.in_doubt
  FROM escalations e
  LEFT JOIN operations o ON o.id = e.operation_id
  LEFT JOIN escalations place ON place.id = %(after)s::uuid
 WHERE e.closed_at IS NOT NULL AND e.id >= uuid_floor(ledger_now() - interval '91 days')
   AND (place.id IS NULL OR (e.closed_at, e.id) < (place.closed_at, place.id))
 ORDER BY e.closed_at DESC, e.id DESC LIMIT %(limit)s::integer;

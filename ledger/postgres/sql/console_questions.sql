-- Open questions with what they are about, by what is lost first: window, money, age.
-- Parameter: limit.
SELECT e.id, e.scope, e.provider, e.account, e.reference, e.reasons, e.opened_at, e.window_ends_at,
       e.amount_minor, e.currency, cardinality(e.members) AS members,
       CASE WHEN e.claimed_until > ledger_now() THEN e.claimed_by END AS claimed_by,
       e.claimed_until, o.id AS operation_id, o.type, o.object_id, o.in_doubt, o.window_started_at
  FROM escalations e LEFT JOIN operations o ON o.id = e.operation_id
 WHERE e.closed_at IS NULL
 ORDER BY e.window_ends_at NULLS LAST, e.amount_minor DESC NULLS LAST, e.opened_at, e.id
 LIMIT %(limit)s::integer;

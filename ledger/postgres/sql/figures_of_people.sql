-- Figures of approvals, one row a figure and its labels. What waits comes from a partial index. What
-- was decided is that of the ledger's day (UTC): every replica counts the same, none counts what
-- another did once more, and a crash loses nothing; at midnight it begins at nothing, which
-- Prometheus takes for a restarted counter. A proposal is looked for up to 14 days before its
-- decision. `le` is a bucket's upper bound in seconds, as in Prometheus. Parameter: bounds_s.
WITH waiting AS MATERIALIZED (
    SELECT id, type, created_at FROM proposals WHERE state = 'awaiting'
), day AS MATERIALIZED (
    SELECT date_trunc('day', ledger_now(), 'UTC') AS at
), decided AS MATERIALIZED (
    SELECT p.type, p.state, extract(epoch FROM p.decided_at - p.created_at) AS seconds
      FROM proposals p CROSS JOIN day
     WHERE p.mode = 'human' AND p.created_at >= day.at - interval '14 days'
       AND p.state IN ('approved', 'rejected', 'expired') AND p.decided_at >= day.at
), people AS MATERIALIZED (
    SELECT * FROM decided WHERE state <> 'expired'
)
SELECT 'outlive_approvals_waiting' AS name, type, '' AS label, '' AS le,
       count(*)::double precision AS value
  FROM waiting GROUP BY type
UNION ALL
SELECT 'outlive_approvals_waiting_minor', w.type, i.prepared->>'currency', '',
       sum((i.prepared->>'amount_minor')::bigint)
  FROM waiting w JOIN proposal_items i ON i.proposal_id = w.id
 WHERE i.prepared->>'currency' IS NOT NULL GROUP BY w.type, i.prepared->>'currency'
UNION ALL
SELECT 'outlive_approvals_oldest_seconds', type, '', '',
       extract(epoch FROM max(ledger_now() - created_at))
  FROM waiting GROUP BY type
UNION ALL
SELECT 'outlive_approvals_ended_total', type, state, '', count(*) FROM decided GROUP BY type, state
UNION ALL
SELECT 'outlive_approvals_decision_seconds', type, '', bound::text,
       count(*) FILTER (WHERE seconds <= bound)
  FROM people CROSS JOIN unnest(%(bounds_s)s::double precision[]) AS bound GROUP BY type, bound
UNION ALL
SELECT 'outlive_approvals_decision_seconds', type, '', '+Inf', count(*) FROM people GROUP BY type
UNION ALL
SELECT 'outlive_approvals_decision_seconds', type, '', 'sum', sum(seconds)
  FROM people GROUP BY type;

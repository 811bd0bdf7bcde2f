-- The figures of now, one row a figure and label. Live rows only: the cost does not grow with the
-- history. Money is never added up across currencies.
WITH live AS MATERIALIZED (
    SELECT * FROM operations WHERE state IN ('created', 'sent') OR escalated
), clock AS MATERIALIZED (
    SELECT ledger_now() AS at
)
SELECT 'outlive_operations_live' AS name, type, state AS label, count(*)::double precision AS value
  FROM live GROUP BY type, state
UNION ALL
SELECT 'outlive_operations_in_doubt', type, '', count(*) FROM live WHERE in_doubt GROUP BY type
UNION ALL
SELECT 'outlive_in_doubt_minor', type, currency, sum(amount_minor) FROM live
 WHERE in_doubt AND currency IS NOT NULL GROUP BY type, currency
UNION ALL
SELECT 'outlive_in_doubt_oldest_seconds', type, '',
       extract(epoch FROM max(at - window_started_at))
  FROM live CROSS JOIN clock WHERE in_doubt GROUP BY type
UNION ALL
SELECT 'outlive_orphans', type, '', count(*) FROM live CROSS JOIN clock
 WHERE in_doubt AND (owner IS NULL OR lease_until <= at) GROUP BY type
UNION ALL
SELECT 'outlive_due_oldest_seconds', type, '', extract(epoch FROM max(at - next_check_at))
  FROM live CROSS JOIN clock WHERE next_check_at <= at GROUP BY type
UNION ALL
SELECT 'outlive_escalations_open', '', scope, count(*) FROM escalations
 WHERE closed_at IS NULL GROUP BY scope
UNION ALL
SELECT 'outlive_escalation_oldest_seconds', '', '', extract(epoch FROM max(at - opened_at))
  FROM escalations CROSS JOIN clock WHERE closed_at IS NULL HAVING count(*) > 0;

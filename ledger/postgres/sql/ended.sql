-- Which of these have nothing more to wait for: the record is closed, a person is asked, given up,
-- or the proposal ended without becoming operations.
-- Parameters: operations (ids, allotted or existing), proposals (ids).
WITH clock AS MATERIALIZED (SELECT ledger_now() AS at)
SELECT w.id FROM clock, unnest(%(operations)s::uuid[]) AS w(id)
  LEFT JOIN operations o ON o.id = w.id
  LEFT JOIN proposal_items i ON o.id IS NULL AND i.operation_id = w.id
  LEFT JOIN proposals p ON p.id = i.proposal_id
 WHERE o.state IN ('confirmed', 'failed') OR o.escalated OR o.never_send
    OR p.state NOT IN ('awaiting', 'approved')
    OR (p.state = 'awaiting' AND p.expires_at <= clock.at)
UNION ALL
SELECT p.id FROM clock, proposals p
 WHERE p.id = ANY(%(proposals)s::uuid[])
   AND (p.state NOT IN ('awaiting', 'approved')
     OR (p.state = 'awaiting' AND p.expires_at <= clock.at)
     -- Counted, and by the proposal alone: else all operations that are live are read for it.
     OR (p.state = 'approved' AND 0 = (
            SELECT count(*) FILTER (WHERE o.state IN ('created', 'sent')
                                      AND NOT o.escalated AND NOT o.never_send)
              FROM operations o WHERE o.proposal_id = p.id)));

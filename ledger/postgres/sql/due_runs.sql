-- Suspended runs that are due to be looked at, and how far their calls have come. What was
-- superseded is followed to the newest. A call has ended when nothing of it can change soon: its
-- proposal ended without operations, or each operation is final or was sent so long ago that the
-- agent is told so. Parameters: limit, doubt_s, unsettled_s.
WITH clock AS MATERIALIZED (
    SELECT ledger_now() AS at
), due AS MATERIALIZED (
    SELECT id FROM runs WHERE state = 'suspended' AND check_at <= (SELECT ledger_now())
     ORDER BY check_at LIMIT %(limit)s::integer FOR UPDATE SKIP LOCKED
), looked AS (
    -- Often at first and after a decision, then ever more seldom.
    UPDATE runs r SET check_at = clock.at + least(interval '60 seconds', greatest(
               interval '1 second', (clock.at - coalesce(r.woken_at, r.suspended_at)) / 20))
      FROM due, clock WHERE r.id = due.id
    RETURNING r.id, r.turn, r.suspended_at
), calls AS MATERIALIZED (
    SELECT l.id AS run_id, c.position, c.status, c.proposal_id, l.suspended_at
      FROM looked l JOIN run_calls c ON c.run_id = l.id AND c.turn = l.turn
), settled AS MATERIALIZED (
    SELECT c.*, c.status IN ('done', 'in_doubt', 'deferred') OR EXISTS (
        SELECT FROM proposals n
         WHERE n.id = newest_of(c.proposal_id) AND n.state NOT IN ('awaiting', 'superseded')
           AND NOT EXISTS (SELECT FROM overtaken o
                            WHERE o.proposal_id = n.id AND o.done_at IS NULL)
           AND NOT EXISTS (
               SELECT FROM operations o CROSS JOIN clock
                WHERE o.proposal_id = n.id AND o.state IN ('created', 'sent')
                  AND coalesce(o.window_started_at,
                               CASE WHEN o.escalated THEN o.decision_since END, clock.at)
                      > clock.at - make_interval(secs => %(doubt_s)s::double precision))
    ) AS ended FROM calls c
)
SELECT run_id AS id, bool_and(ended) AS ended,
       bool_or(status IN ('new', 'begun')
               AND suspended_at < clock.at - make_interval(secs => %(unsettled_s)s::double precision))
       AS unsettled
  FROM settled CROSS JOIN clock GROUP BY run_id ORDER BY run_id;

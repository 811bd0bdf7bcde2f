-- Give operations back unchanged, to be due after a while: by their owner under its fence.
-- Parameters: ids, fences, check_s.
WITH t AS (SELECT * FROM unnest(%(ids)s::uuid[], %(fences)s::bigint[]) AS t(id, fence)),
locked AS MATERIALIZED (
    SELECT o.id FROM operations o JOIN t ON t.id = o.id AND t.fence = o.fence
     ORDER BY o.id FOR UPDATE OF o
)
UPDATE operations o
   SET owner = NULL, lease_until = NULL, woken = false,
       next_check_at = ledger_now()
           + make_interval(secs => CASE WHEN o.woken THEN 0 ELSE %(check_s)s::double precision END)
  FROM locked l WHERE o.id = l.id AND o.owner IS NOT NULL
RETURNING o.id;

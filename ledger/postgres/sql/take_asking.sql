-- May the provider be asked about this question now? At most once in `every_s`, whoever asks.
-- Parameters: id, every_s. No row: it is answered, or unknown.
WITH locked AS MATERIALIZED (
    SELECT id, asked_at FROM escalations
     WHERE id = %(id)s::uuid AND closed_at IS NULL FOR UPDATE
), judged AS MATERIALIZED (
    SELECT l.id, clock.at, greatest(0, extract(epoch FROM l.asked_at - clock.at)
                                       + %(every_s)s::double precision) AS wait_s
      FROM locked l CROSS JOIN (SELECT count(*), ledger_now() AS at FROM locked) AS clock
), taken AS (
    UPDATE escalations e SET asked_at = j.at FROM judged j
     WHERE e.id = j.id AND coalesce(j.wait_s, 0) = 0
)
SELECT coalesce(wait_s, 0) AS wait_s FROM judged;

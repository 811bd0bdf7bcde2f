-- The holder lives, or has gone on (`done`): judged by generation under the run's lock. A lease that
-- has ended still counts while nobody else has claimed. Parameters: id, agent, generation, lease_s,
-- done.
WITH locked AS MATERIALIZED (
    SELECT * FROM runs WHERE id = %(id)s::uuid AND agent = %(agent)s::text FOR UPDATE
), judged AS MATERIALIZED (
    SELECT l.id, clock.at, CASE
        WHEN l.generation <> %(generation)s::integer THEN 'fenced'
        WHEN l.state = 'claimed' THEN 'held'
        WHEN l.state = 'resumed' AND %(done)s::boolean THEN 'done'
        ELSE 'fenced' END AS verdict
      FROM locked l CROSS JOIN (SELECT count(*), ledger_now() AS at FROM locked) AS clock
), kept AS (
    UPDATE runs r
       SET state = CASE WHEN %(done)s::boolean THEN 'resumed' ELSE 'claimed' END,
           resumed_at = CASE WHEN %(done)s::boolean THEN j.at END,
           claimed_until = CASE WHEN %(done)s::boolean THEN NULL ELSE
               j.at + make_interval(secs => %(lease_s)s::double precision) END
      FROM judged j WHERE r.id = j.id AND j.verdict = 'held'
    RETURNING r.claimed_until
)
SELECT judged.verdict, kept.claimed_until FROM judged LEFT JOIN kept ON true;

-- One agent goes on with the run, under the next generation. The same holder asking again gets the
-- same answer. Parameters: id, agent, by, lease_s, generation (or null).
WITH locked AS MATERIALIZED (
    SELECT * FROM runs WHERE id = %(id)s::uuid AND agent = %(agent)s::text FOR UPDATE
), judged AS MATERIALIZED (
    SELECT l.*, clock.at, CASE
        WHEN l.state = 'claimed' AND l.claimed_by = %(by)s::text AND l.claimed_until > clock.at
         AND l.generation = coalesce(%(generation)s::integer, l.generation) THEN 'held'
        WHEN l.generation + 1 <> coalesce(%(generation)s::integer, l.generation + 1)
         AND l.state IN ('ready', 'claimed') THEN 'fenced'
        WHEN l.state = 'ready' OR (l.state = 'claimed' AND l.claimed_until <= clock.at) THEN 'won'
        ELSE l.state END AS verdict
      FROM locked l CROSS JOIN (SELECT count(*), ledger_now() AS at FROM locked) AS clock
), claimed AS (
    UPDATE runs r
       SET state = 'claimed', generation = r.generation + 1, claimed_by = %(by)s::text,
           claimed_until = j.at + make_interval(secs => %(lease_s)s::double precision),
           offer_at = NULL
      FROM judged j WHERE r.id = j.id AND j.verdict = 'won'
)
SELECT verdict, claimed_by, claimed_until, generation FROM judged;

-- Call the agents of ready runs, and again while nobody claims: after 1, 2, 4, … minutes, at most
-- an hour apart. A run without an address waits to be asked for. Parameters: limit, most.
WITH due AS MATERIALIZED (
    SELECT id FROM runs WHERE state = 'ready' AND offer_at <= (SELECT ledger_now())
     ORDER BY offer_at LIMIT %(limit)s::integer FOR UPDATE SKIP LOCKED
), offered AS (
    UPDATE runs r
       SET offers = r.offers + 1,
           offer_at = CASE WHEN r.resume_url IS NOT NULL AND r.offers + 1 < %(most)s::integer
               THEN ledger_now() + least(interval '1 hour', interval '1 minute' * 2 ^ r.offers) END
      FROM due WHERE r.id = due.id
    RETURNING r.id, r.turn, r.generation, r.offers, r.resume_url
)
INSERT INTO outbox (id, kind, subject, key, payload, created_at, due_at)
SELECT gen_random_uuid(), 'resume', id,
       'run.ready:' || id || ':' || turn || ':' || generation + 1 || ':' || offers,
       jsonb_build_object('event', 'run.ready', 'turn', turn, 'generation', generation + 1),
       at, at
  FROM offered CROSS JOIN (SELECT ledger_now() AS at) AS clock WHERE resume_url IS NOT NULL
ON CONFLICT (key) DO NOTHING
RETURNING subject;

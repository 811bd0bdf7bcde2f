-- Open questions that nobody is on: page again, once in each interval since they were opened.
-- Parameters: every_s, limit.
INSERT INTO outbox (id, kind, subject, key, payload, created_at, due_at)
SELECT gen_random_uuid(), 'news', e.id, page.key,
       jsonb_build_object('event', 'escalation.unclaimed', 'page', page.turn), clock.at, clock.at
  FROM (SELECT ledger_now() AS at) AS clock CROSS JOIN escalations e CROSS JOIN LATERAL (
       SELECT turn, 'escalation.unclaimed:' || e.id || ':' || turn AS key
         FROM (SELECT floor(extract(epoch FROM clock.at - e.opened_at)
                            / %(every_s)s::double precision)::integer AS turn) AS t) AS page
 WHERE e.closed_at IS NULL AND (e.claimed_by IS NULL OR e.claimed_until < clock.at)
   AND page.turn >= 1 AND NOT EXISTS (SELECT FROM outbox o WHERE o.key = page.key)
 ORDER BY e.opened_at LIMIT %(limit)s::integer
ON CONFLICT (key) DO NOTHING
RETURNING subject;

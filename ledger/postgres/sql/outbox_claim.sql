-- Take messages that are due, by their state and never by their place in a sequence: late commits
-- are seen. Until the lease ends nobody else takes them; `attempts` is the fence.
-- Parameters: kinds, limit, lease_s.
WITH due AS MATERIALIZED (
    SELECT id FROM outbox
     WHERE sent_at IS NULL AND gave_up_at IS NULL AND due_at <= (SELECT ledger_now())
       AND kind = ANY(%(kinds)s::text[])
     ORDER BY due_at LIMIT %(limit)s::integer FOR UPDATE SKIP LOCKED
)
UPDATE outbox o
   SET attempts = o.attempts + 1,
       due_at = ledger_now() + make_interval(secs => %(lease_s)s::double precision)
 WHERE o.id = ANY (ARRAY(SELECT id FROM due))
RETURNING o.id, o.kind, o.subject, o.key, o.payload, o.created_at, o.attempts;

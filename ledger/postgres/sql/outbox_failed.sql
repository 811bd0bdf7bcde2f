-- A message did not arrive: again later, or given up, visibly.
-- Parameters: id, attempts, error, again_s, for_good, give_up_s.
UPDATE outbox
   SET last_error = %(error)s::text,
       due_at = ledger_now() + make_interval(secs => %(again_s)s::double precision),
       gave_up_at = CASE WHEN %(for_good)s::boolean
           OR created_at + make_interval(secs => %(give_up_s)s::double precision) < ledger_now()
           THEN ledger_now() END
 WHERE id = %(id)s::uuid AND attempts = %(attempts)s::integer AND sent_at IS NULL
RETURNING gave_up_at IS NOT NULL AS gave_up;

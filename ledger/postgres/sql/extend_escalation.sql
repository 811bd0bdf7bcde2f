-- Whoever is on it stays longer; a claim that has lapsed is taken anew with `claim_escalation`.
-- Parameters: id, by, for_s.
UPDATE escalations
   SET claimed_until = claimed_until + make_interval(secs => %(for_s)s::double precision)
 WHERE id = %(id)s::uuid AND closed_at IS NULL AND claimed_by = %(by)s::text
   AND claimed_until >= ledger_now()
RETURNING claimed_until;

-- Say who is on it; a claim lapses, and only its holder renews it. Parameters: id, by, for_s.
UPDATE escalations
   SET claimed_by = %(by)s::text,
       claimed_until = ledger_now() + make_interval(secs => %(for_s)s::double precision)
 WHERE id = %(id)s::uuid AND closed_at IS NULL
   AND (claimed_by IS NULL OR claimed_by = %(by)s::text OR claimed_until < ledger_now())
RETURNING claimed_until;

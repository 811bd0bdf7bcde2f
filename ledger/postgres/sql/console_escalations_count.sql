-- How many questions are open, how many nobody is on, and how many are one person's. Parameter: who.
SELECT count(*) AS open,
       count(*) FILTER (WHERE claimed_by IS NULL OR claimed_until <= ledger_now()) AS nobodys,
       count(*) FILTER (WHERE claimed_by = %(who)s::text AND claimed_until > ledger_now()) AS mine
  FROM escalations WHERE closed_at IS NULL;

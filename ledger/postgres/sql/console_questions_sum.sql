-- All open questions in numbers: how many, how many nobody is on, and the first window to end.
SELECT count(*) AS count,
       count(*) FILTER (WHERE claimed_by IS NULL OR claimed_until <= ledger_now()) AS nobodys,
       min(window_ends_at) AS first_window
  FROM escalations WHERE closed_at IS NULL;

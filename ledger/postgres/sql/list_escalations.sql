-- Open questions, by what is lost first: window, money at risk, age. Parameter: limit.
SELECT e.* FROM escalations e WHERE e.closed_at IS NULL
 ORDER BY e.window_ends_at NULLS LAST, e.amount_minor DESC NULLS LAST, e.opened_at
 LIMIT %(limit)s::integer;

-- Count an automatic resend against this hour's cap; no row: the cap is reached.
-- A cap is a conditionally raised counter, never a sum over rows.
-- Parameters: provider, unit ('' counts resends, a currency sums money), amount, cap.
INSERT INTO resend_allowances (provider, hour, currency, used)
SELECT %(provider)s::text, date_trunc('hour', ledger_now()), %(unit)s::text, %(amount)s::bigint
 WHERE %(amount)s::bigint <= %(cap)s::bigint
ON CONFLICT (provider, hour, currency) DO UPDATE
   SET used = resend_allowances.used + excluded.used
 WHERE resend_allowances.used + excluded.used <= %(cap)s::bigint
RETURNING used;

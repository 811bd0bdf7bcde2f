-- Parameters: scope, by, reason.
INSERT INTO brakes (scope, set_by, reason, set_at)
VALUES (%(scope)s::text, %(by)s::text, %(reason)s::text, ledger_now())
ON CONFLICT (scope) DO UPDATE SET set_by = excluded.set_by, reason = excluded.reason;

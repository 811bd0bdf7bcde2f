-- Stop sending in a scope, and keep who did and why. Parameters: scope, by, reason.
WITH deed AS (
    INSERT INTO deeds (id, at, who, what, subject, told)
    VALUES (gen_random_uuid(), ledger_now(), %(by)s::text, 'brake.set', %(scope)s::text,
            jsonb_build_object('reason', %(reason)s::text))
)
INSERT INTO brakes (scope, set_by, reason, set_at)
VALUES (%(scope)s::text, %(by)s::text, %(reason)s::text, ledger_now())
ON CONFLICT (scope) DO UPDATE SET set_by = excluded.set_by, reason = excluded.reason;

-- After an outage one operation goes first. No row: another one is under way.
-- Parameters: provider, account, operation_id, for_s.
UPDATE provider_accounts
   SET canary = %(operation_id)s::uuid,
       canary_until = ledger_now() + make_interval(secs => %(for_s)s::double precision)
 WHERE provider = %(provider)s::text AND account = %(account)s::text
   AND (outage_since IS NULL OR canary IS NULL OR canary = %(operation_id)s::uuid
        OR canary_until < ledger_now())
RETURNING outage_since IS NOT NULL AS is_canary;

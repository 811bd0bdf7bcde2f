-- What the ledger adds to a look-up of one operation. Parameters: id, credential.
SELECT ledger_now() AS at,
       stopped_by(o.provider, o.type, o.account, %(credential)s::text) AS stopped,
       is_target_busy(o.target, o.id) AS busy,
       (SELECT a.outage_since IS NOT NULL FROM provider_accounts a
         WHERE a.provider = o.provider AND a.account = o.account) AS outage,
       EXISTS (SELECT FROM escalations e
                WHERE e.scope = 'account' AND e.closed_at IS NULL
                  AND e.provider = o.provider AND e.account = o.account) AS asked_about_account,
       EXISTS (SELECT FROM breakers b
                WHERE b.provider = o.provider AND b.account = o.account
                  AND b.credential = %(credential)s::text) AS breaker,
       coalesce((SELECT array_agg(x.reference) FROM operations x
         WHERE x.target = o.target AND x.id <> o.id AND x.reference IS NOT NULL), '{}') AS own_references,
       coalesce((SELECT array_agg(x.id) FROM operations x
         WHERE x.target = o.target AND x.id <> o.id), '{}') AS own_operations
  FROM operations o WHERE o.id = %(id)s::uuid;

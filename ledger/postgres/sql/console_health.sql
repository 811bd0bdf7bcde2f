-- Providers and this ledger, as parts. Parameters: ttl_s, since (an id of the time 24 h ago: ids
-- rise with time, so no index but their own is read).
SELECT coalesce((SELECT jsonb_agg(jsonb_build_object(
           'provider', a.provider, 'account', a.account,
           'silent_since', a.outage_since,
           'breaker', (SELECT min(b.reason) FROM breakers b
                        WHERE b.provider = a.provider AND b.account = a.account
                          AND b.open_until > ledger_now()),
           'waiting', (SELECT count(*) FROM operations o
                        WHERE o.in_doubt AND o.provider = a.provider AND o.account = a.account))
           ORDER BY a.provider, a.account) FROM provider_accounts a), '[]') AS accounts,
       coalesce((SELECT jsonb_agg(jsonb_build_object('scope', scope, 'by', set_by, 'reason', reason)
                                  ORDER BY scope) FROM brakes), '[]') AS brakes,
       (SELECT count(*) FROM workers WHERE ended_at IS NULL AND heartbeat_at > ledger_now()
               - make_interval(secs => %(ttl_s)s::double precision)) AS workers,
       (SELECT count(*) FROM outbox WHERE sent_at IS NULL AND gave_up_at IS NULL
               AND last_error IS NOT NULL) AS notices_failing,
       (SELECT count(*) FROM outbox WHERE gave_up_at IS NOT NULL
               AND gave_up_at > ledger_now() - interval '1 day') AS notices_lost,
       (SELECT max(at) FROM checkpoints) AS checkpoint_at,
       (SELECT count(*) FROM operations
         WHERE id > %(since)s::uuid) AS today;

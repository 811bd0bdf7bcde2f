-- The provider refuses this credential: nothing is sent with it for a while.
-- Parameters: provider, account, credential, reason, for_s.
INSERT INTO breakers (provider, account, credential, reason, opened_at, open_until)
SELECT %(provider)s::text, %(account)s::text, %(credential)s::text, %(reason)s::text, at,
       at + make_interval(secs => %(for_s)s::double precision)
  FROM (SELECT ledger_now() AS at) AS clock
ON CONFLICT (provider, account, credential) DO UPDATE
   SET reason = excluded.reason, open_until = excluded.open_until;

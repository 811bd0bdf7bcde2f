-- Begin to sweep a type's effects at every account that operations act in, and at the credential's
-- own. Parameters: type, provider, home (null: not known), reach_s, slack_s.
INSERT INTO sweeps (type, account, swept_until)
SELECT %(type)s::text, a.account,
       least(greatest(i.created_at,
                      ledger_now() - make_interval(secs => %(reach_s)s::double precision)),
             (SELECT r.backup_at - make_interval(secs => %(slack_s)s::double precision)
                FROM restorations r WHERE r.released_at IS NULL))
  FROM ledger_identity i
 CROSS JOIN (SELECT account FROM provider_accounts WHERE provider = %(provider)s::text
              UNION SELECT %(home)s::text WHERE %(home)s::text IS NOT NULL) AS a
 WHERE NOT EXISTS (SELECT FROM sweeps s
                    WHERE s.type = %(type)s::text AND s.account = a.account)
ON CONFLICT DO NOTHING;

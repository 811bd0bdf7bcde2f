-- Begin to sweep a type's effects at an account. Parameters: type, account, reach_s, slack_s.
INSERT INTO sweeps (type, account, swept_until)
SELECT %(type)s::text, %(account)s::text,
       least(greatest(i.created_at,
                      ledger_now() - make_interval(secs => %(reach_s)s::double precision)),
             (SELECT r.backup_at - make_interval(secs => %(slack_s)s::double precision)
                FROM restorations r WHERE r.released_at IS NULL))
  FROM ledger_identity i
ON CONFLICT DO NOTHING;

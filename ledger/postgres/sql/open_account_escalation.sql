-- One question for a whole provider account; it holds none of its operations.
-- Parameters: id, provider, account, reason, member, dossier.
INSERT INTO escalations (id, scope, provider, account, reasons, members, opened_at, dossier)
VALUES (%(id)s::uuid, 'account', %(provider)s::text, %(account)s::text,
        ARRAY[%(reason)s::text], ARRAY[%(member)s::uuid], ledger_now(), %(dossier)s::jsonb)
ON CONFLICT (provider, account) WHERE closed_at IS NULL AND scope = 'account' DO UPDATE
   SET reasons = (SELECT array_agg(DISTINCT reason)
                    FROM unnest(escalations.reasons || excluded.reasons) AS reason),
       members = (SELECT array_agg(DISTINCT member)
                    FROM unnest(escalations.members || excluded.members) AS member)
RETURNING id, (xmax = 0) AS is_new;

-- An effect at the provider that no operation accounts for. Its target is busy until it is answered.
-- Parameters: id, provider, account, reference, target, reason, amount_minor, currency, dossier.
INSERT INTO escalations (id, scope, provider, account, reference, target, reasons, opened_at,
                         amount_minor, currency, dossier)
VALUES (%(id)s::uuid, 'effect', %(provider)s::text, %(account)s::text, %(reference)s::text,
        %(target)s::text, ARRAY[%(reason)s::text], ledger_now(), %(amount_minor)s::bigint,
        %(currency)s::text, %(dossier)s::jsonb)
ON CONFLICT (provider, account, reference) WHERE closed_at IS NULL AND scope = 'effect'
   DO NOTHING
RETURNING id, true AS is_new;

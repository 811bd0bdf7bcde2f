-- Put a question to a person; a further reason joins the open one, and makes it another case: nobody
-- may acknowledge what they have not read. The operation's lock is held.
-- Parameters: id, operation_id, reasons, dossier, amount_minor, currency, window_ends_at.
WITH joined AS (
    UPDATE operations SET case_version = case_version + 1
     WHERE id = %(operation_id)s::uuid
       AND EXISTS (SELECT FROM escalations
                    WHERE operation_id = %(operation_id)s::uuid AND closed_at IS NULL
                      AND NOT reasons @> %(reasons)s::text[])
    RETURNING id
)
INSERT INTO escalations (id, scope, operation_id, provider, account, reasons, opened_at,
                         amount_minor, currency, window_ends_at, dossier)
SELECT %(id)s::uuid, 'operation', o.id, o.provider, o.account, %(reasons)s::text[], ledger_now(),
       o.amount_minor, o.currency, %(window_ends_at)s::timestamptz, %(dossier)s::jsonb
  FROM operations o WHERE o.id = %(operation_id)s::uuid
ON CONFLICT (operation_id) WHERE closed_at IS NULL AND operation_id IS NOT NULL DO UPDATE
   SET reasons = (SELECT array_agg(DISTINCT reason)
                    FROM unnest(escalations.reasons || excluded.reasons) AS reason),
       dossier = excluded.dossier
RETURNING id, (xmax = 0) AS is_new, EXISTS (SELECT FROM joined) AS joined;

-- Look-ups answer again: what only asked about that goes from the account's question, and the
-- question closes by itself when nothing is left; one that a person is on stays with them.
-- Parameters: provider, account, settled (reasons that are answered).
UPDATE escalations e
   SET reasons = CASE WHEN rest.reasons = '{}' THEN e.reasons ELSE rest.reasons END,
       closed_at = CASE WHEN rest.reasons = '{}' THEN ledger_now() END,
       closed_by = CASE WHEN rest.reasons = '{}' THEN 'recovery' END,
       verdict = CASE WHEN rest.reasons = '{}' THEN 'settled' END,
       note = CASE WHEN rest.reasons = '{}' THEN 'the provider answers again' END
  FROM (SELECT i.id, coalesce(array_agg(reason) FILTER (
                  WHERE NOT reason = ANY(%(settled)s::text[])), '{}') AS reasons
          FROM escalations i, unnest(i.reasons) AS reason
         WHERE i.scope = 'account' AND i.closed_at IS NULL
           AND i.provider = %(provider)s::text AND i.account = %(account)s::text
         GROUP BY i.id) AS rest
 WHERE e.id = rest.id AND e.closed_at IS NULL
   AND (e.claimed_by IS NULL OR e.claimed_until < ledger_now())
RETURNING e.id;

-- Look-ups answer again: what only asked about that goes from the account's question, and the
-- question closes by itself when nothing is left; one that a person is on stays with them.
-- Parameters: provider, account, settled (reasons that are answered).
-- The row is locked before its reasons are read, so that one added meanwhile is not lost.
WITH locked AS MATERIALIZED (
    SELECT * FROM escalations
     WHERE scope = 'account' AND closed_at IS NULL
       AND provider = %(provider)s::text AND account = %(account)s::text
       FOR UPDATE
), rest AS MATERIALIZED (
    SELECT l.id, coalesce(array_agg(reason) FILTER (
               WHERE NOT reason = ANY(%(settled)s::text[])), '{}') AS reasons
      FROM locked l, unnest(l.reasons) AS reason GROUP BY l.id
)
UPDATE escalations e
   SET reasons = CASE WHEN rest.reasons = '{}' THEN e.reasons ELSE rest.reasons END,
       closed_at = CASE WHEN rest.reasons = '{}' THEN ledger_now() END,
       closed_by = CASE WHEN rest.reasons = '{}' THEN 'recovery' END,
       verdict = CASE WHEN rest.reasons = '{}' THEN 'settled' END,
       note = CASE WHEN rest.reasons = '{}' THEN 'the provider answers again' END
  FROM rest
 WHERE e.id = rest.id AND e.closed_at IS NULL
   AND (e.claimed_by IS NULL OR e.claimed_until < ledger_now())
RETURNING e.id;

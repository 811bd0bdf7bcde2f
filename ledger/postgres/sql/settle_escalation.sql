-- The provider's answer settled the doubt: reasons that only asked about doubt go; what a person
-- must see stays open. Parameters: operation_id, settled (reasons that are answered).
UPDATE escalations e
   SET reasons = CASE WHEN rest.reasons = '{}' THEN e.reasons ELSE rest.reasons END,
       closed_at = CASE WHEN rest.reasons = '{}' THEN ledger_now() END,
       closed_by = CASE WHEN rest.reasons = '{}' THEN 'recovery' END,
       verdict = CASE WHEN rest.reasons = '{}' THEN 'settled' END,
       note = CASE WHEN rest.reasons = '{}' THEN 'the provider''s answer settled it' END
  FROM (SELECT i.id, coalesce(array_agg(reason) FILTER (
                  WHERE NOT reason = ANY(%(settled)s::text[])), '{}') AS reasons
          FROM escalations i, unnest(i.reasons) AS reason
         WHERE i.operation_id = %(operation_id)s::uuid AND i.closed_at IS NULL
         GROUP BY i.id) AS rest
 WHERE e.id = rest.id AND e.closed_at IS NULL
RETURNING e.id, e.closed_at IS NOT NULL AS closed;

-- What the ledger knows of effects that bear its marker.
-- Parameters: provider, account, found (JSON array of i, reference, operation_id).
SELECT t.i, o.state, o.reference, o.escalated, o.acknowledged, o.next_check_at,
       p.id AS proposal_id, p.state AS proposal_state,
       EXISTS (SELECT FROM escalations e
                WHERE e.scope = 'effect' AND e.provider = %(provider)s::text
                  AND e.account = %(account)s::text AND e.reference = t.reference) AS asked
  FROM jsonb_to_recordset(%(found)s::jsonb) AS t(i integer, reference text, operation_id uuid)
  LEFT JOIN operations o ON o.id = t.operation_id
  LEFT JOIN proposal_items item ON item.operation_id = t.operation_id
  LEFT JOIN proposals p ON p.id = item.proposal_id
 ORDER BY t.i;

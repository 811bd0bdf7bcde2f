-- A person's answer. Above the policy's threshold it closes nothing unless somebody else has signed
-- this very answer on the case as it stands now; the money is the question's own.
-- Parameters: id, by, verdict, note, digest, above (JSON: minor units by currency, {} for none).
WITH locked AS MATERIALIZED (
    SELECT e.*, coalesce(o.case_version, 0) AS case_version
      FROM escalations e LEFT JOIN operations o ON o.id = e.operation_id
     WHERE e.id = %(id)s::uuid AND e.closed_at IS NULL FOR UPDATE OF e
), judged AS MATERIALIZED (
    SELECT l.id, CASE
        WHEN %(verdict)s::text = 'wait' OR l.amount_minor IS NULL THEN 1
        WHEN %(above)s::jsonb = '{}'::jsonb THEN 1
        WHEN l.amount_minor > coalesce((%(above)s::jsonb ->> l.currency)::bigint, 0) THEN 2
        ELSE 1 END AS people, (
        SELECT s.signer FROM signatures s
         WHERE s.escalation_id = l.id
           AND s.signer <> %(by)s::text
           AND s.digest = %(digest)s::text
           AND s.case_version = l.case_version
         ORDER BY s.signed_at LIMIT 1) AS first
      FROM locked l
), closed AS (
    UPDATE escalations e
       SET closed_at = ledger_now(), closed_by = %(by)s::text, verdict = %(verdict)s::text,
           note = %(note)s::text
      FROM judged j WHERE e.id = j.id AND (j.people = 1 OR j.first IS NOT NULL)
    RETURNING e.id
)
SELECT j.people, CASE WHEN j.people = 2 THEN j.first END AS first, c.id IS NOT NULL AS closed
  FROM judged j LEFT JOIN closed c USING (id);

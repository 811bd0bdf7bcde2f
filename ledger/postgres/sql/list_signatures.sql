-- Who has signed which answer; one on an older case counts no more. Parameter: ids (questions).
SELECT s.escalation_id, s.signer, s.answer, s.note, s.signed_at, s.case_version,
       s.case_version = coalesce(o.case_version, 0) AS counts
  FROM signatures s
  JOIN escalations e ON e.id = s.escalation_id
  LEFT JOIN operations o ON o.id = e.operation_id
 WHERE s.escalation_id = ANY(%(ids)s::uuid[]) ORDER BY s.signed_at;

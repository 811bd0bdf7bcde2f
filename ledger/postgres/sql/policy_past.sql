-- What was asked in a time, the newest first, with what the policy looked at and how it ended.
-- Parameters: since, most.
SELECT p.id, p.type, p.risk, p.mode, p.state, p.requested_by, p.decided_by, p.created_at,
       p.decided_at, p.supersedes, p.superseded_by, p.rule, lines.items
  FROM proposals p
 CROSS JOIN LATERAL (
       SELECT coalesce(
           (SELECT jsonb_agg(jsonb_build_array(i.prepared->'object_id', i.target,
                                               i.prepared->'amount_minor', i.prepared->'currency')
                             ORDER BY i.item)
              FROM proposal_items i WHERE i.proposal_id = p.id),
           (SELECT jsonb_agg(jsonb_build_array(o.object_id, o.target, o.amount_minor, o.currency)
                             ORDER BY o.item)
              FROM operations o WHERE o.proposal_id = p.id), '[]') AS items) AS lines
 WHERE p.created_at >= %(since)s::timestamptz
 ORDER BY p.created_at DESC, p.id DESC LIMIT %(most)s::integer;

-- The next events after a cursor, of transactions that are all over, with what their operation and
-- attempt add. Parameters: xid, operation_id, seq, most.
WITH due AS MATERIALIZED (
    SELECT operation_id, seq, id, kind, actor, at, xid FROM events
     WHERE xid >= %(xid)s::text::xid8 AND xid < pg_snapshot_xmin(pg_current_snapshot())
       AND (xid, operation_id, seq)
           > (%(xid)s::text::xid8, %(operation_id)s::uuid, %(seq)s::bigint)
     ORDER BY xid, operation_id, seq LIMIT %(most)s::integer
)
SELECT d.operation_id, d.seq, d.id, d.kind, d.actor, d.at, d.xid::text AS xid, p.payload,
       o.type, o.provider, o.account, o.target, o.amount_minor, o.currency, o.trace_context,
       q.requested_by, a.number, a.trace_id, a.span_id
  FROM due d
  LEFT JOIN event_payloads p USING (operation_id, seq)
  LEFT JOIN operations o ON o.id = d.operation_id
  LEFT JOIN proposals q ON q.id = o.proposal_id
  LEFT JOIN LATERAL (
      SELECT number, trace_id, span_id FROM attempts
       WHERE attempts.operation_id = d.operation_id AND started_at <= d.at
       ORDER BY number DESC LIMIT 1) AS a ON true
 ORDER BY d.xid, d.operation_id, d.seq;

-- The next events after a place, of transactions that are all over: how many they are, where they
-- end, and among them the first proven outcome of each operation that was sent, with the seconds
-- since its first send. Parameters: xid, operation_id, seq, most.
WITH due AS MATERIALIZED (
    SELECT operation_id, seq, kind, at, xid FROM events
     WHERE xid >= %(xid)s::text::xid8 AND xid < pg_snapshot_xmin(pg_current_snapshot())
       AND (xid, operation_id, seq)
           > (%(xid)s::text::xid8, %(operation_id)s::uuid, %(seq)s::bigint)
     ORDER BY xid, operation_id, seq LIMIT %(most)s::integer
), place AS (
    SELECT count(*) AS read,
           (array_agg(xid::text ORDER BY xid DESC, operation_id DESC, seq DESC))[1] AS xid,
           (array_agg(operation_id ORDER BY xid DESC, operation_id DESC, seq DESC))[1]
               AS operation_id,
           (array_agg(seq ORDER BY xid DESC, operation_id DESC, seq DESC))[1] AS seq
      FROM due
), ends AS (
    SELECT d.operation_id, d.kind, d.at, p.payload::jsonb->>'state' AS state
      FROM due d JOIN event_payloads p USING (operation_id, seq)
     WHERE p.payload::jsonb->>'state' IN ('confirmed', 'failed')
       AND NOT EXISTS (SELECT FROM events e JOIN event_payloads q USING (operation_id, seq)
                        WHERE e.operation_id = d.operation_id AND e.seq < d.seq
                          AND q.payload::jsonb->>'state' IN ('confirmed', 'failed'))
), told AS (
    SELECT o.type, ends.state, ends.kind, ends.at,
           extract(epoch FROM ends.at - sent.at)::double precision AS seconds
      FROM ends JOIN operations o ON o.id = ends.operation_id
     CROSS JOIN LATERAL (SELECT min(a.started_at) AS at FROM attempts a
                          WHERE a.operation_id = o.id) AS sent
     WHERE sent.at IS NOT NULL
)
SELECT place.read, place.xid, place.operation_id, place.seq,
       date_trunc('day', ledger_now(), 'UTC') AS day,
       told.type, told.state, told.kind, told.at, told.seconds
  FROM place LEFT JOIN told ON true;

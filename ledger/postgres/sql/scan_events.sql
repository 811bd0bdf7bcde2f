-- The history backwards, in the order of transactions: a page reads so many events and no more,
-- however rare what is looked for is. `read` counts them; the last row of the scan says where the
-- next page begins. Parameters: xid, operation_id, seq (the place, or nulls), scan (how many),
-- actor, kind, since, until (each or null).
WITH scanned AS MATERIALIZED (
    SELECT operation_id, seq, kind, actor, at, xid FROM events
     WHERE %(xid)s::text IS NULL
        OR (xid, operation_id, seq) < (%(xid)s::text::xid8, %(operation_id)s::uuid, %(seq)s::bigint)
     ORDER BY xid DESC, operation_id DESC, seq DESC LIMIT %(scan)s::integer
), last AS (
    SELECT count(*) AS read, min(at) AS back_to,
           (array_agg(xid::text || '.' || replace(operation_id::text, '-', '') || '.' || seq
                      ORDER BY xid, operation_id, seq))[1] AS place
      FROM scanned
), found AS (
    SELECT s.*, p.payload FROM scanned s
      LEFT JOIN event_payloads p ON p.operation_id = s.operation_id AND p.seq = s.seq
     WHERE (%(actor)s::text IS NULL OR s.actor = %(actor)s::text)
       AND (%(kind)s::text IS NULL OR s.kind = %(kind)s::text)
       AND (%(since)s::timestamptz IS NULL OR s.at >= %(since)s::timestamptz)
       AND (%(until)s::timestamptz IS NULL OR s.at < %(until)s::timestamptz)
)
SELECT last.read, last.back_to, last.place, found.xid::text AS xid, found.operation_id,
       found.seq, found.kind, found.actor, found.at, found.payload
  FROM last LEFT JOIN found ON true
 ORDER BY found.xid DESC, found.operation_id DESC, found.seq DESC;

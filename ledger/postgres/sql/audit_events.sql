-- The events of a range of operations in key order, with the payloads that were not erased.
-- An infinite time, which no statement of ours writes, comes as null. Parameters: after, upto.
SELECT e.operation_id, e.seq, e.id, e.kind, e.actor, e.payload_digest, e.hash, p.salt, p.payload,
       CASE WHEN isfinite(e.at) THEN (extract(epoch FROM e.at) * 1000000)::bigint END AS at_us
  FROM events e LEFT JOIN event_payloads p
       ON p.operation_id = e.operation_id AND p.seq = e.seq
 WHERE e.operation_id > %(after)s::uuid AND e.operation_id <= %(upto)s::uuid
 ORDER BY e.operation_id, e.seq;

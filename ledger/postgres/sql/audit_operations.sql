-- The next operations in key order, with what their history must lead to.
-- Parameters: after, count.
SELECT id, last_event_seq, last_event_hash, encode(sha256(request), 'hex') AS request_digest
  FROM operations WHERE id > %(after)s::uuid ORDER BY id LIMIT %(count)s::integer;

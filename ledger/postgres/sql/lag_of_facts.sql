-- How many events wait to be copied (counted up to `most`), and for how long the oldest has.
-- Parameters: consumer, most.
SELECT count(*) AS waiting,
       coalesce(extract(epoch FROM ledger_now() - min(at)), 0)::double precision AS oldest_s
  FROM (SELECT e.at FROM events e
          LEFT JOIN fact_cursors c ON c.consumer = %(consumer)s
         WHERE c.consumer IS NULL
            OR (e.xid >= c.xid AND (e.xid, e.operation_id, e.seq) > (c.xid, c.operation_id, c.seq))
         ORDER BY e.xid LIMIT %(most)s::integer) AS waiting;

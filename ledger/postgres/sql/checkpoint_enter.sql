-- Enter the heads of all operations that have an event which the last checkpoint did not see.
-- Parameters: number, seen (a snapshot; '1:1:' has seen nothing).
WITH changed AS MATERIALIZED (
    SELECT DISTINCT operation_id FROM events
     WHERE xid >= pg_snapshot_xmin(%(seen)s::pg_snapshot)
       AND NOT pg_visible_in_snapshot(xid, %(seen)s::pg_snapshot)
), entered AS (
    INSERT INTO checkpoint_entries (number, operation_id, seq, hash)
    SELECT %(number)s::bigint, o.id, o.last_event_seq, o.last_event_hash
      FROM operations o JOIN changed c ON c.operation_id = o.id
    RETURNING operation_id
)
SELECT count(*) AS operations, pg_current_snapshot()::text AS snapshot FROM entered;

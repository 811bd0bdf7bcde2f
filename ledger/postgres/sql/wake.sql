-- Have an operation looked at soon, because something was learned about it: raises the case
-- version. A live sender is never taken from; it is told when it lets go.
-- Parameters: id, actor, kind, payload, event_id, salt, expected (case version, or null).
WITH locked AS MATERIALIZED (
    SELECT * FROM operations WHERE id = %(id)s::uuid FOR UPDATE
), clock AS MATERIALIZED (
    SELECT count(*) AS locks, ledger_now() AS at FROM locked
), changed AS (
    UPDATE operations o
       SET case_version = l.case_version + 1,
           next_check_at = CASE WHEN l.owner IS NULL THEN clock.at ELSE l.next_check_at END,
           woken = l.owner IS NOT NULL,
           last_event_seq = l.last_event_seq + 1,
           last_event_hash = event_hash(
               l.last_event_hash, l.id, l.last_event_seq + 1, %(event_id)s::uuid, %(kind)s::text, %(actor)s::text,
               clock.at, sha256(%(salt)s::bytea || convert_to(%(payload)s::text, 'UTF8')))
      FROM clock, locked l
     WHERE o.id = l.id AND (%(expected)s::bigint IS NULL OR l.case_version = %(expected)s::bigint)
    RETURNING o.id, o.last_event_seq, o.last_event_hash, clock.at, %(event_id)s::uuid AS event_id,
              %(kind)s::text AS kind, %(actor)s::text AS actor,
              sha256(%(salt)s::bytea || convert_to(%(payload)s::text, 'UTF8')) AS payload_digest,
              %(salt)s::bytea AS salt, %(payload)s::text AS payload, o.case_version
),
-- :include _append_event
SELECT case_version FROM changed;

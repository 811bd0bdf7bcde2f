-- Tell an operation's history something that changes nothing about it: no state, no case version.
-- Parameters: id, actor, kind, payload, event_id, salt.
WITH locked AS MATERIALIZED (
    SELECT * FROM operations WHERE id = %(id)s::uuid FOR UPDATE
), clock AS MATERIALIZED (
    SELECT count(*) AS locks, ledger_now() AS at FROM locked
), changed AS (
    UPDATE operations o
       SET last_event_seq = l.last_event_seq + 1,
           last_event_hash = event_hash(
               l.last_event_hash, l.id, l.last_event_seq + 1, %(event_id)s::uuid, %(kind)s::text, %(actor)s::text,
               clock.at, sha256(%(salt)s::bytea || convert_to(%(payload)s::text, 'UTF8')))
      FROM clock, locked l WHERE o.id = l.id
    RETURNING o.id, o.last_event_seq, o.last_event_hash, clock.at, %(event_id)s::uuid AS event_id,
              %(kind)s::text AS kind, %(actor)s::text AS actor,
              sha256(%(salt)s::bytea || convert_to(%(payload)s::text, 'UTF8')) AS payload_digest,
              %(salt)s::bytea AS salt, %(payload)s::text AS payload
),
-- :include _append_event
SELECT id FROM changed;

-- Take one operation by its id, for a person's *send again*: never from a live sender.
-- Parameters: id, owner, actor, lease_s, payload, case_version.
WITH locked AS MATERIALIZED (
    SELECT * FROM operations WHERE id = %(id)s::uuid FOR UPDATE
), clock AS MATERIALIZED (
    SELECT count(*) AS locks, ledger_now() AS at FROM locked
), salted AS MATERIALIZED (
    SELECT l.*, clock.at, gen_random_uuid() AS event_id, uuid_send(gen_random_uuid()) AS salt
      FROM clock, locked l
     WHERE (l.owner IS NULL OR l.lease_until < clock.at)
       AND l.case_version = %(case_version)s::bigint
), changed AS (
    UPDATE operations o
       SET fence = s.fence + 1, owner = %(owner)s::uuid,
           lease_until = s.at + make_interval(secs => %(lease_s)s::double precision),
           next_check_at = s.at + make_interval(secs => %(lease_s)s::double precision),
           woken = false,
           last_event_seq = s.last_event_seq + 1,
           last_event_hash = event_hash(
               s.last_event_hash, s.id, s.last_event_seq + 1, s.event_id, 'claimed',
               %(actor)s::text, s.at,
               sha256(s.salt || convert_to(%(payload)s::text, 'UTF8')))
      FROM salted s WHERE o.id = s.id
    RETURNING o.id, o.fence, o.last_event_seq, o.last_event_hash, s.at, s.event_id, 'claimed' AS kind,
              %(actor)s::text AS actor,
              sha256(s.salt || convert_to(%(payload)s::text, 'UTF8')) AS payload_digest,
              s.salt, %(payload)s::text AS payload
),
-- :include _append_event
SELECT id, fence FROM changed;

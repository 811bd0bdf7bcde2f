-- Take their operations from dead workers: whoever has not beaten for a time-to-live, seen by one
-- who has; and at once whoever held the identity that the caller has proven to be free.
-- Raising the fence makes a dead worker's late write stale.
-- Parameters: incarnation, ttl_s, identity, host, actor, payload.
WITH clock AS MATERIALIZED (SELECT ledger_now() AS at),
dead AS (
    UPDATE workers w SET ended_at = clock.at FROM clock
     WHERE w.ended_at IS NULL AND w.incarnation <> %(incarnation)s::uuid AND (
           (w.identity = %(identity)s::text AND w.host = %(host)s::text)
        OR (w.heartbeat_at < clock.at - make_interval(secs => %(ttl_s)s::double precision)
            AND EXISTS (SELECT FROM workers me WHERE me.incarnation = %(incarnation)s::uuid
                           AND me.ended_at IS NULL
                           AND me.heartbeat_at >= clock.at - make_interval(secs => %(ttl_s)s::double precision)
                           AND me.beating_since <= clock.at - make_interval(secs => %(ttl_s)s::double precision))))
    RETURNING w.incarnation
), locked AS MATERIALIZED (
    SELECT * FROM operations WHERE owner IN (SELECT incarnation FROM dead)
     ORDER BY id FOR UPDATE
), salted AS MATERIALIZED (
    SELECT l.*, clock.at, gen_random_uuid() AS event_id, uuid_send(gen_random_uuid()) AS salt
      FROM clock CROSS JOIN locked l
), changed AS (
    UPDATE operations o
       SET fence = s.fence + 1, owner = NULL, lease_until = NULL, next_check_at = s.at,
           last_event_seq = s.last_event_seq + 1,
           last_event_hash = event_hash(
               s.last_event_hash, s.id, s.last_event_seq + 1, s.event_id, 'orphaned', %(actor)s::text,
               s.at, sha256(s.salt || convert_to(%(payload)s::text, 'UTF8')))
      FROM salted s WHERE o.id = s.id
    RETURNING o.id, o.last_event_seq, o.last_event_hash, s.at, s.event_id, 'orphaned' AS kind,
              %(actor)s::text AS actor, sha256(s.salt || convert_to(%(payload)s::text, 'UTF8'))
              AS payload_digest, s.salt, %(payload)s::text AS payload
),
-- :include _append_event
SELECT id FROM changed;

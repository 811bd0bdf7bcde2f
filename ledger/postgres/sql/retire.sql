-- A worker leaves in order: what it still holds is due at once, under a new fence.
-- Parameters: incarnation, actor, payload.
WITH ended AS (
    UPDATE workers SET ended_at = ledger_now()
     WHERE incarnation = %(incarnation)s::uuid AND ended_at IS NULL
), locked AS MATERIALIZED (
    SELECT * FROM operations WHERE owner = %(incarnation)s::uuid ORDER BY id FOR UPDATE
), clock AS MATERIALIZED (
    SELECT count(*) AS locks, ledger_now() AS at FROM locked
), salted AS MATERIALIZED (
    SELECT l.*, clock.at, gen_random_uuid() AS event_id, uuid_send(gen_random_uuid()) AS salt
      FROM clock CROSS JOIN locked l
), changed AS (
    UPDATE operations o
       SET fence = s.fence + 1, owner = NULL, lease_until = NULL, next_check_at = s.at,
           last_event_seq = s.last_event_seq + 1,
           last_event_hash = event_hash(
               s.last_event_hash, s.id, s.last_event_seq + 1, s.event_id, 'released',
               %(actor)s::text, s.at,
               sha256(s.salt || convert_to(%(payload)s::text, 'UTF8')))
      FROM salted s WHERE o.id = s.id
    RETURNING o.id, o.last_event_seq, o.last_event_hash, s.at, s.event_id, 'released' AS kind,
              %(actor)s::text AS actor,
              sha256(s.salt || convert_to(%(payload)s::text, 'UTF8')) AS payload_digest,
              s.salt, %(payload)s::text AS payload
),
-- :include _append_event
SELECT id FROM changed;

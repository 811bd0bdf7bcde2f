-- A backup was restored: a new epoch, and everything that is not final is in question. Fences go
-- far ahead: those that the lost history handed out must never come again.
-- Parameters: outside_epoch, by, actor, reason, backup_at (or null), payload.
WITH clock AS MATERIALIZED (SELECT ledger_now() AS at, high_water FROM ledger_identity),
identity AS (
    UPDATE ledger_identity SET epoch = greatest(epoch, %(outside_epoch)s::integer) + 1
    RETURNING epoch
), salted AS MATERIALIZED (
    SELECT o.id, o.last_event_seq, o.last_event_hash, clock.at, gen_random_uuid() AS event_id,
           uuid_send(gen_random_uuid()) AS salt
      FROM operations o CROSS JOIN clock WHERE o.state IN ('created', 'sent') ORDER BY o.id
       FOR UPDATE OF o
), changed AS (
    UPDATE operations o
       SET fence = o.fence + 1000000, case_version = o.case_version + 1, owner = NULL,
           lease_until = NULL, woken = false, next_check_at = s.at, decision = NULL,
           decision_since = NULL, decision_count = 0,
           last_event_seq = s.last_event_seq + 1,
           last_event_hash = event_hash(
               s.last_event_hash, s.id, s.last_event_seq + 1, s.event_id, 'restored',
               %(actor)s::text, s.at,
               sha256(s.salt || convert_to(%(payload)s::text, 'UTF8')))
      FROM salted s WHERE o.id = s.id
    RETURNING o.id, o.last_event_seq, o.last_event_hash, s.at, s.event_id, 'restored' AS kind,
              %(actor)s::text AS actor,
              sha256(s.salt || convert_to(%(payload)s::text, 'UTF8')) AS payload_digest, s.salt,
              %(payload)s::text AS payload
), begun AS (
    INSERT INTO restorations (epoch, began_at, began_by, reason, backup_at, open_before)
    SELECT identity.epoch, clock.at, %(by)s::text, %(reason)s::text,
           least(coalesce(%(backup_at)s::timestamptz, clock.high_water), clock.at),
           (SELECT count(*) FROM salted)
      FROM identity CROSS JOIN clock
    RETURNING *
),
-- :include _append_event
SELECT * FROM begun;

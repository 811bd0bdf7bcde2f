-- End an authorization for first sends and resends alike, and say what had already left. Whoever
-- ends a batch's own authorization also ends what was renewed since for one of its operations.
-- Parameters: authorization_id, by, reason, payload.
WITH locked AS MATERIALIZED (
    SELECT * FROM operations
     WHERE authorization_id = %(authorization_id)s::uuid
        OR proposal_id = (SELECT a.proposal_id FROM authorizations a
                           WHERE a.id = %(authorization_id)s::uuid AND NOT EXISTS (
                                 SELECT FROM authorizations earlier
                                  WHERE earlier.proposal_id = a.proposal_id AND earlier.id < a.id))
     ORDER BY id FOR UPDATE
), clock AS MATERIALIZED (
    SELECT count(*) AS locks, ledger_now() AS at FROM locked
), ended AS (
    UPDATE authorizations SET revoked_at = clock.at, revoked_by = %(by)s::text,
                              revoked_reason = %(reason)s::text
      FROM clock WHERE (id = %(authorization_id)s::uuid
                        OR id IN (SELECT l.authorization_id FROM locked l))
       AND revoked_at IS NULL
), salted AS MATERIALIZED (
    SELECT l.*, clock.at, gen_random_uuid() AS event_id, uuid_send(gen_random_uuid()) AS salt
      FROM clock CROSS JOIN locked l
     WHERE l.revoked_at IS NULL AND l.state IN ('created', 'sent')
), changed AS (
    UPDATE operations o
       SET revoked_at = s.at, case_version = s.case_version + 1,
           next_check_at = CASE WHEN s.owner IS NULL THEN s.at ELSE s.next_check_at END,
           woken = s.owner IS NOT NULL,
           last_event_seq = s.last_event_seq + 1,
           last_event_hash = event_hash(
               s.last_event_hash, s.id, s.last_event_seq + 1, s.event_id, 'revoked', %(by)s::text,
               s.at, sha256(s.salt || convert_to(%(payload)s::text, 'UTF8')))
      FROM salted s WHERE o.id = s.id
    RETURNING o.id, o.last_event_seq, o.last_event_hash, s.at, s.event_id, 'revoked' AS kind,
              %(by)s::text AS actor, sha256(s.salt || convert_to(%(payload)s::text, 'UTF8')) AS payload_digest,
              s.salt, %(payload)s::text AS payload
),
-- :include _append_event
SELECT id, attempt_count > 0 AS had_left, amount_minor, currency FROM locked
 WHERE state = 'created' OR attempt_count > 0 ORDER BY item;

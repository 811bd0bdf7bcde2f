-- An effect of ours was found though the record knows no sending (a lost history): the attempt is
-- entered as accepted, so that the record can be closed on it.
-- Parameters: id, fence, case_version, owner, process, credential, answer, event_id, actor,
-- payload, salt.
WITH locked AS MATERIALIZED (
    SELECT * FROM operations WHERE id = %(id)s::uuid FOR UPDATE
), clock AS MATERIALIZED (
    SELECT count(*) AS locks, ledger_now() AS at FROM locked
), changed AS (
    UPDATE operations o
       SET state = 'sent', in_doubt = false, attempt_count = l.attempt_count + 1,
           window_started_at = coalesce(l.window_started_at, l.created_at),
           last_event_seq = l.last_event_seq + 1,
           last_event_hash = event_hash(
               l.last_event_hash, l.id, l.last_event_seq + 1, %(event_id)s::uuid, 'imported',
               %(actor)s::text, clock.at,
               sha256(%(salt)s::bytea || convert_to(%(payload)s::text, 'UTF8')))
      FROM clock, locked l
     WHERE o.id = l.id AND l.state = 'created' AND l.fence = %(fence)s::bigint
       AND l.case_version = %(case_version)s::bigint
    RETURNING o.id, o.last_event_seq, o.last_event_hash, o.attempt_count, clock.at,
              %(event_id)s::uuid AS event_id, 'imported' AS kind, %(actor)s::text AS actor,
              sha256(%(salt)s::bytea || convert_to(%(payload)s::text, 'UTF8')) AS payload_digest,
              %(salt)s::bytea AS salt, %(payload)s::text AS payload
), attempted AS (
    INSERT INTO attempts (operation_id, number, fence, owner, process, credential, started_at,
                          send_not_after, finished_at, outcome, answer, late)
    SELECT id, attempt_count, %(fence)s::bigint, %(owner)s::uuid, %(process)s::text,
           %(credential)s::text, at, at, at, 'accepted', %(answer)s::jsonb, true FROM changed
),
counted AS (
    UPDATE restorations SET imported = imported + 1 FROM changed
     WHERE epoch = (SELECT max(epoch) FROM restorations)
),
-- :include _append_event
SELECT id FROM changed;

-- Record what an attempt did, under its fence. An answer that comes after the fence was lost goes
-- on its own attempt, raises the case version and wakes the operation; it moves no state.
-- Parameter: rows (JSON array).
WITH t AS MATERIALIZED (
    SELECT *, decode(salt_hex, 'hex') AS salt,
           sha256(decode(salt_hex, 'hex') || convert_to(payload, 'UTF8')) AS payload_digest
      FROM jsonb_to_recordset(%(rows)s::jsonb) AS t(
        i integer, id uuid, fence bigint, number integer, outcome text, answer jsonb,
        state text, in_doubt boolean, reference text, provider_status text, failure_code text,
        result jsonb, check_s double precision, clear_window boolean,
        event_id uuid, actor text, payload text, salt_hex text)
), locked AS MATERIALIZED (
    SELECT * FROM operations WHERE id = ANY (ARRAY(SELECT id FROM t)) ORDER BY id FOR UPDATE
), clock AS MATERIALIZED (
    SELECT count(*) AS locks, ledger_now() AS at FROM locked
), judged AS MATERIALIZED (
    SELECT t.*, clock.at, coalesce(o.fence = t.fence AND o.state = 'sent', false) AS held,
           o.last_event_seq, o.last_event_hash
      FROM clock CROSS JOIN t LEFT JOIN locked o USING (id)
), answered AS (
    -- Judges on the row as it is now: whoever answered it held the lock that we have waited for.
    UPDATE attempts a
       SET outcome = j.outcome, answer = j.answer, finished_at = j.at, late = NOT j.held
      FROM judged j
     WHERE a.operation_id = ANY (ARRAY(SELECT id FROM t))
       AND a.operation_id = j.id AND a.number = j.number AND a.outcome IS NULL
    RETURNING j.i
), changed AS (
    UPDATE operations o
       SET state = CASE WHEN j.held THEN j.state ELSE o.state END,
           in_doubt = CASE WHEN j.held THEN j.in_doubt ELSE o.in_doubt END,
           reference = CASE WHEN j.held THEN coalesce(j.reference, o.reference)
                            ELSE o.reference END,
           provider_status = CASE WHEN j.held THEN coalesce(j.provider_status, o.provider_status)
                                  ELSE o.provider_status END,
           failure_code = CASE WHEN j.held THEN j.failure_code ELSE o.failure_code END,
           result = CASE WHEN j.held THEN coalesce(j.result, o.result) ELSE o.result END,
           window_started_at = CASE WHEN j.held AND j.clear_window THEN NULL
                                    ELSE o.window_started_at END,
           owner = CASE WHEN j.held THEN NULL ELSE o.owner END,
           lease_until = CASE WHEN j.held THEN NULL ELSE o.lease_until END,
           next_check_at = CASE WHEN j.held AND o.woken THEN j.at
                                WHEN j.held THEN j.at + make_interval(secs => j.check_s)
                                WHEN o.owner IS NULL THEN j.at
                                ELSE o.next_check_at END,
           woken = NOT j.held AND o.owner IS NOT NULL,
           case_version = o.case_version + CASE WHEN j.held THEN 0 ELSE 1 END,
           last_event_seq = j.last_event_seq + 1,
           last_event_hash = event_hash(
               j.last_event_hash, j.id, j.last_event_seq + 1, j.event_id,
               CASE WHEN j.held THEN 'answered' ELSE 'answered_late' END,
               j.actor, j.at, j.payload_digest)
      FROM judged j JOIN answered USING (i) WHERE o.id = j.id
    RETURNING o.id, o.last_event_seq, o.last_event_hash, j.at, j.event_id,
              CASE WHEN j.held THEN 'answered' ELSE 'answered_late' END AS kind, j.actor,
              j.payload_digest, j.salt, j.payload
),
-- :include _append_event
SELECT j.i, j.held, answered.i IS NOT NULL AS written, j.at
  FROM judged j LEFT JOIN answered USING (i) ORDER BY j.i;

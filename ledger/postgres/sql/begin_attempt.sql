-- The gate: lock, then judge, then record the attempt. What is refused changes nothing.
-- Parameter: rows (JSON array). Every lock is held before the clock is read. One statement and
-- nothing else in its transaction: a sender that is stopped in between would hold the locks.
WITH t AS MATERIALIZED (
    SELECT *, decode(salt_hex, 'hex') AS salt,
           sha256(decode(salt_hex, 'hex') || convert_to(payload, 'UTF8')) AS payload_digest
      FROM jsonb_to_recordset(%(rows)s::jsonb) AS t(
        i integer, id uuid, fence bigint, case_version bigint, owner uuid, process text,
        credential text, digest text, budget_s double precision, lease_s double precision,
        settle_s double precision, trace_id text, span_id text,
        event_id uuid, actor text, payload text, salt_hex text)
), locked AS MATERIALIZED (
    -- All live operations on the targets, in key order: two sends on one target queue up here.
    SELECT * FROM operations
     WHERE target = ANY (ARRAY(SELECT wanted.target FROM operations wanted
                             WHERE wanted.id = ANY (ARRAY(SELECT id FROM t))))
       AND (state IN ('created', 'sent') OR escalated)
     ORDER BY id FOR UPDATE
), clock AS MATERIALIZED (
    SELECT count(*) AS locks, ledger_now() AS at FROM locked
), judged AS MATERIALIZED (
    SELECT t.*, clock.at, o.attempt_count, o.last_event_seq, o.last_event_hash,
           o.send_not_after AS earlier_send, CASE
        WHEN o.id IS NULL THEN CASE WHEN (SELECT x.id FROM operations x WHERE x.id = t.id) IS NULL
                               THEN 'unknown_operation' ELSE 'already_final' END
        WHEN o.fence <> t.fence OR o.owner IS DISTINCT FROM t.owner THEN 'stale_fence'
        WHEN o.state NOT IN ('created', 'sent') THEN 'already_final'
        WHEN o.never_send THEN 'given_up'
        WHEN o.revoked_at IS NOT NULL THEN 'revoked'
        WHEN o.case_version <> t.case_version THEN 'stale_case'
        WHEN CASE WHEN o.in_doubt THEN o.resend_until ELSE o.authorized_until END <= clock.at
             THEN 'authorization_expired'
        WHEN o.reference IS NOT NULL THEN 'already_accepted'
        WHEN encode(sha256(o.request), 'hex') <> t.digest OR o.request_digest <> t.digest
             THEN 'request_drift'
        WHEN o.escalated THEN 'escalation_open'
        WHEN o.in_doubt AND o.settled_at > clock.at THEN 'not_settled'
        -- Whoever stood still since it judged judges anew: window, credential and world are older.
        WHEN o.lease_until <= clock.at THEN 'lease_over'
        WHEN is_target_busy(o.target, o.id)
          OR row_number() OVER (PARTITION BY o.target ORDER BY t.i) > 1 THEN 'target_busy'
        ELSE stopped_by(o.provider, o.type, o.account, t.credential) END AS stop
      FROM clock CROSS JOIN t LEFT JOIN locked o ON o.id = t.id
), changed AS (
    UPDATE operations o
       SET state = 'sent', in_doubt = true, attempt_count = j.attempt_count + 1,
           owner = j.owner, lease_until = j.at + make_interval(secs => j.lease_s),
           next_check_at = j.at + make_interval(secs => j.lease_s),
           send_not_after = j.at + make_interval(secs => j.budget_s),
           settled_at = greatest(o.settled_at,
                                 j.at + make_interval(secs => j.budget_s + j.settle_s)),
           window_started_at = coalesce(o.window_started_at, j.at),
           last_event_seq = j.last_event_seq + 1,
           last_event_hash = event_hash(j.last_event_hash, j.id, j.last_event_seq + 1, j.event_id,
                                        'sent', j.actor, j.at, j.payload_digest)
      FROM judged j WHERE o.id = j.id AND j.stop IS NULL
    RETURNING o.id, o.last_event_seq, o.last_event_hash, o.attempt_count, o.send_not_after,
              j.i, j.at, j.event_id, 'sent' AS kind, j.actor, j.payload_digest, j.salt, j.payload,
              j.fence, j.owner, j.process, j.credential, j.trace_id, j.span_id
), attempted AS (
    INSERT INTO attempts (operation_id, number, fence, owner, process, credential, trace_id,
                          span_id, started_at, send_not_after)
    SELECT id, attempt_count, fence, owner, process, credential, trace_id, span_id, at,
           send_not_after FROM changed
),
-- :include _append_event
SELECT j.i, j.stop, c.attempt_count AS number, c.at AS started_at, c.send_not_after
  FROM judged j LEFT JOIN changed c USING (i) ORDER BY j.i;

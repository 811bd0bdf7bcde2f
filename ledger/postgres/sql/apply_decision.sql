-- Write a decision of recovery, or a person's verdict, under fence and case version.
-- Parameter: rows (JSON array). `state` is the state to be in afterwards; `human` acts raise the
-- case version, so that nobody goes on with an older picture.
WITH t AS MATERIALIZED (
    SELECT *, decode(salt_hex, 'hex') AS salt,
           sha256(decode(salt_hex, 'hex') || convert_to(payload, 'UTF8')) AS payload_digest
      FROM jsonb_to_recordset(%(rows)s::jsonb) AS t(
        i integer, id uuid, fence bigint, case_version bigint, state text, in_doubt boolean,
        reference text, provider_status text, failure_code text, result jsonb,
        check_s double precision, release boolean, watched boolean, human boolean,
        never_send boolean, correct boolean, escalated boolean, acknowledged text[],
        line integer, code text, action text,
        considered jsonb, code_version text, table_version integer, kind text,
        event_id uuid, actor text, payload text, salt_hex text)
), locked AS MATERIALIZED (
    SELECT * FROM operations WHERE id IN (SELECT id FROM t) ORDER BY id FOR UPDATE
), clock AS MATERIALIZED (
    SELECT count(*) AS locks, ledger_now() AS at FROM locked
), judged AS MATERIALIZED (
    SELECT t.*, clock.at, o.last_event_seq, o.last_event_hash,
           o.decision IS DISTINCT FROM t.code AS news,
           CASE WHEN o.id IS NULL OR o.fence <> t.fence OR (o.owner IS NULL AND NOT t.human)
                THEN 'stale_fence'  -- whoever gave an operation back decides nothing more
                WHEN o.case_version <> t.case_version THEN 'stale_case' END AS stop
      FROM clock CROSS JOIN t LEFT JOIN locked o USING (id)
), changed AS (
    UPDATE operations o
       SET state = j.state, in_doubt = j.in_doubt,
           reference = coalesce(j.reference, o.reference),
           provider_status = coalesce(j.provider_status, o.provider_status),
           failure_code = j.failure_code, result = coalesce(j.result, o.result),
           owner = CASE WHEN j.release THEN NULL ELSE o.owner END,
           lease_until = CASE WHEN j.release THEN NULL ELSE o.lease_until END,
           next_check_at = CASE WHEN NOT j.release THEN o.next_check_at
                                WHEN o.woken THEN j.at
                                ELSE j.at + make_interval(secs => j.check_s) END,
           woken = o.woken AND NOT j.release,
           case_version = o.case_version + CASE WHEN j.human THEN 1 ELSE 0 END,
           never_send = coalesce(j.never_send, o.never_send),
           escalated = coalesce(j.escalated, o.escalated),
           acknowledged = o.acknowledged || coalesce(j.acknowledged, '{}'),
           corrections = o.corrections + CASE WHEN j.correct THEN 1 ELSE 0 END,
           watches = o.watches + CASE WHEN j.watched THEN 1 ELSE 0 END,
           decision = j.code,
           decision_since = CASE WHEN j.news THEN j.at ELSE o.decision_since END,
           decision_count = CASE WHEN j.news THEN 1 ELSE o.decision_count + 1 END,
           last_event_seq = j.last_event_seq + 1,
           last_event_hash = event_hash(j.last_event_hash, j.id, j.last_event_seq + 1, j.event_id,
                                        j.kind, j.actor, j.at, j.payload_digest)
      FROM judged j WHERE o.id = j.id AND j.stop IS NULL
    RETURNING o.id, o.last_event_seq, o.last_event_hash, j.at, j.event_id, j.kind, j.actor,
              j.payload_digest, j.salt, j.payload, j.news, j.line, j.code, j.action,
              j.considered, j.code_version, j.table_version
), recorded AS (
    INSERT INTO decision_records (operation_id, at, line, code, action, considered, code_version,
                                  table_version)
    SELECT id, at, line, code, action, considered, code_version, table_version
      FROM changed WHERE news
),
-- :include _append_event
SELECT i, stop FROM judged ORDER BY i;

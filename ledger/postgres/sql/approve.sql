-- A person's yes: judged under the proposal's lock, counted, and written down as operations when
-- it is the last one needed. Parameters: decision (JSON), operations (JSON array), look_alike_s.
WITH d AS MATERIALIZED (
    SELECT * FROM jsonb_to_record(%(decision)s::jsonb) AS d(
        id uuid, version integer, digest text, by text, separate integer[], reason text,
        authorization_id uuid, final_input jsonb)
), locked AS MATERIALIZED (
    SELECT * FROM proposals WHERE id = (SELECT id FROM d) FOR UPDATE
), o AS MATERIALIZED (
    SELECT *, decode(salt_hex, 'hex') AS salt,
           sha256(decode(salt_hex, 'hex') || convert_to(payload, 'UTF8')) AS payload_digest
      FROM jsonb_to_recordset(%(operations)s::jsonb) AS o(
        i integer, item integer, id uuid, adapter_version text, provider text, family text,
        account text, livemode boolean, object_id text, connected_account text, target text,
        amount_minor bigint, currency text, parameters jsonb, request text, request_digest text,
        idempotency_key text, snapshot jsonb, trace_context text, separate boolean,
        event_id uuid, actor text, payload text, salt_hex text)
), held AS MATERIALIZED (
    SELECT pg_advisory_xact_lock(8787, bucket)
      FROM (SELECT DISTINCT hashtext(target) & 1023 AS bucket FROM o, locked ORDER BY 1) AS buckets
), clock AS MATERIALIZED (
    SELECT count(*) AS locks, ledger_now() AS at FROM held
), named AS MATERIALIZED (
    SELECT o.item, to_jsonb(found.ids) AS older
      FROM clock, o, look_alikes(o.target, o.family,
                                 make_interval(secs => %(look_alike_s)s::double precision))
           AS found(ids)
     WHERE found.ids IS NOT NULL
    UNION ALL  -- what was read as a repeat is answered, also where it has aged since
    SELECT shown.item::integer, shown.older
      FROM locked p, jsonb_each(coalesce(p.preview -> 'repeats', '{}')) AS shown(item, older)
), alike AS MATERIALIZED (
    SELECT jsonb_object_agg(n.item, n.older) AS older
      FROM d, named n WHERE NOT n.item = ANY(d.separate)
), judged AS MATERIALIZED (
    SELECT p.*, d.by, d.authorization_id, d.reason AS why, d.separate, d.final_input AS final,
           clock.at, alike.older, votes_of(p.id, d.by) AS others, CASE
        WHEN p.state <> 'awaiting' THEN 'decided'
        WHEN p.version <> d.version OR p.digest <> d.digest THEN 'stale'
        WHEN p.expires_at <= clock.at THEN 'lapsed'
        WHEN p.requested_by = d.by THEN 'own'
        WHEN alike.older IS NOT NULL THEN 'alike'
        WHEN votes_of(p.id, d.by) + 1 < p.approvals THEN 'one_of_two'
        ELSE 'approved' END AS verdict
      FROM d CROSS JOIN clock CROSS JOIN alike JOIN locked p ON true
), voted AS (
    INSERT INTO votes (proposal_id, voter, separate, voted_at)
    SELECT id, by, separate, at FROM judged WHERE verdict IN ('one_of_two', 'approved')
    ON CONFLICT (proposal_id, voter) DO UPDATE SET separate = excluded.separate
), decided AS (
    UPDATE proposals p
       SET state = 'approved', decided_by = j.by, decided_at = j.at, reason = j.why,
           final_input = j.final
      FROM judged j WHERE p.id = j.id AND j.verdict = 'approved'
    RETURNING p.id
), won AS MATERIALIZED (
    SELECT 0 AS i, j.id, j.type, j.type_version, j.authorization_id, j.by AS decided_by, j.at,
           j.at + make_interval(secs => j.authorized_for_s) AS authorized_until,
           j.at + make_interval(secs => j.resend_for_s) AS resend_until,
           NULL::uuid AS owner, 0::double precision AS lease_s
      FROM judged j JOIN decided USING (id)
),
-- :include _create_operations
-- :include _append_event
SELECT verdict, older, state, version, digest, decided_by, decided_at, expires_at, superseded_by
  FROM judged;

-- Record decided proposals with their operations: all items of one, or none.
-- Parameters: proposals (JSON array), operations (JSON array), look_alike_s.
WITH p AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset(%(proposals)s::jsonb) AS p(
        i integer, id uuid, type text, type_version integer, requested_by text, request_key text,
        input_digest text, items integer, mode text, decided_by text, reason text,
        authorization_id uuid, authorized_until timestamptz, resend_until timestamptz,
        owner uuid, lease_s double precision)
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
    -- One creator at a time on a target, so that look-alikes are seen by the later one.
    SELECT pg_advisory_xact_lock(8787, bucket)
      FROM (SELECT DISTINCT hashtext(target) & 1023 AS bucket FROM o ORDER BY 1) AS buckets
), clock AS MATERIALIZED (
    SELECT count(*) AS locks, ledger_now() AS at FROM held
), alike AS MATERIALIZED (
    -- `unseen`: committed while this statement waited, perhaps by the same request.
    SELECT o.i, jsonb_object_agg(o.item, to_jsonb(found.ids)) AS older,
           bool_or((SELECT x.id FROM operations x WHERE x.id = found.ids[1]) IS NULL
               AND NOT EXISTS (SELECT FROM escalations e WHERE e.target = o.target)) AS unseen
      FROM clock, o, look_alikes(o.target, o.family,
                                 make_interval(secs => %(look_alike_s)s::double precision)) AS found(ids)
     WHERE NOT o.separate AND found.ids IS NOT NULL GROUP BY o.i
), judged AS MATERIALIZED (
    SELECT p.*, clock.at, alike.older, known.id AS known_id, known.input_digest AS known_digest,
           CASE WHEN known.id IS NOT NULL THEN 'known'
                WHEN alike.unseen THEN 'again'
                WHEN p.authorized_until <= clock.at THEN 'over'
                WHEN alike.older IS NOT NULL THEN 'alike'
                ELSE 'new' END AS verdict
      FROM clock CROSS JOIN p
      -- LIMIT keeps it a look-up for each: a join would be planned over the ledger as it was when
      -- this connection began, and read all keys where that was empty.
      LEFT JOIN LATERAL (
          SELECT k.id, k.input_digest FROM proposals k
           WHERE k.requested_by = p.requested_by AND k.request_key = p.request_key LIMIT 1
      ) AS known ON true
      LEFT JOIN alike ON alike.i = p.i
), recorded AS (
    INSERT INTO proposals (id, type, type_version, requested_by, request_key, input_digest, items,
                           mode, state, decided_by, decided_at, reason, created_at)
    SELECT id, type, type_version, requested_by, request_key, input_digest, items,
           mode, 'approved', decided_by, at, reason, at
      FROM judged WHERE verdict = 'new' ORDER BY requested_by, request_key
    ON CONFLICT (requested_by, request_key) DO NOTHING
    RETURNING id
), won AS MATERIALIZED (
    SELECT judged.* FROM judged JOIN recorded USING (id)
),
-- :include _create_operations
-- :include _append_event
SELECT judged.i,
       CASE WHEN judged.verdict = 'new' AND recorded.id IS NULL THEN 'again'
            ELSE judged.verdict END AS verdict,
       judged.known_id, judged.known_digest, judged.older, judged.at
  FROM judged LEFT JOIN recorded USING (id) ORDER BY judged.i;

-- Write a decided batch down: its authorization and its operations. `won` gives one row a batch,
-- `o` one row an item.
proven AS (
    INSERT INTO authorizations (id, proposal_id, decided_by, authorized_until, resend_until,
                                created_at)
    SELECT authorization_id, id, decided_by, authorized_until, resend_until, at FROM won
), accounts AS (
    INSERT INTO provider_accounts (provider, account, livemode)
    SELECT DISTINCT provider, account, livemode FROM o JOIN won USING (i) ORDER BY 1, 2
    ON CONFLICT DO NOTHING
), created AS (
    INSERT INTO operations (
        id, proposal_id, item, type, type_version, adapter_version, provider, family, account,
        livemode, object_id, connected_account, target, amount_minor, currency, parameters,
        request, request_digest, idempotency_key, snapshot, trace_context, created_at,
        authorization_id, authorized_until, resend_until, state, fence, owner, lease_until,
        next_check_at, last_event_seq, last_event_hash)
    SELECT o.id, won.id, o.item, won.type, won.type_version, o.adapter_version, o.provider,
        o.family, o.account, o.livemode, o.object_id, o.connected_account, o.target,
        o.amount_minor, o.currency, o.parameters, convert_to(o.request, 'UTF8'),
        o.request_digest, o.idempotency_key, o.snapshot, o.trace_context, won.at,
        won.authorization_id, won.authorized_until, won.resend_until, 'created',
        CASE WHEN won.owner IS NULL THEN 0 ELSE 1 END, won.owner,
        CASE WHEN won.owner IS NOT NULL THEN won.at + make_interval(secs => won.lease_s) END,
        CASE WHEN won.owner IS NULL THEN won.at
             ELSE won.at + make_interval(secs => won.lease_s) END,
        1, event_hash('', o.id, 1, o.event_id, 'authorized', o.actor, won.at, o.payload_digest)
      FROM o JOIN won USING (i) ORDER BY o.id
    RETURNING id, last_event_seq, last_event_hash, created_at AS at
), changed AS (
    SELECT created.*, o.event_id, 'authorized' AS kind, o.actor, o.payload_digest, o.salt,
           o.payload
      FROM created JOIN o USING (id)
),

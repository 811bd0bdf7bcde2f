-- A whole operation as somebody would write it by hand: one statement a transition, each its own
-- commit, into the same tables under the same triggers, with the same rows, hashes and fences.
-- No rule is checked but the fence: no lock before the judgement, no look-alikes, no brakes.
\set charge random(1, 1000000000000)
WITH ids AS MATERIALIZED (
    SELECT gen_random_uuid() AS event_id, uuidv7() AS id, uuidv7() AS proposal_id,
           uuidv7() AS authorization_id, clock_timestamp() AS at,
           '{"amount_minor": 100,"charge":"ch_1","currency":"eur","words":"as the policy says it"}'
           AS payload, decode('000102030405060708090a0b0c0d0e0f', 'hex') AS salt
), p AS (
    INSERT INTO proposals (id, type, type_version, requested_by, request_key, input_digest, items,
                           mode, state, decided_by, decided_at, reason, created_at)
    SELECT proposal_id, 'bench.instant', 1, 'pgbench', id::text, 'digest', 1, 'auto', 'approved',
           'policy 1 small', at, 'small', at FROM ids
), a AS (
    INSERT INTO authorizations (id, proposal_id, decided_by, authorized_until, resend_until,
                                created_at)
    SELECT authorization_id, proposal_id, 'policy 1 small', at + '1 hour', at + '23 hours', at
      FROM ids
), o AS (
    INSERT INTO operations (
        id, proposal_id, item, type, type_version, adapter_version, provider, family, account,
        livemode, object_id, target, amount_minor, currency, parameters, request, request_digest,
        idempotency_key, snapshot, created_at, authorization_id, authorized_until, resend_until,
        state, fence, owner, lease_until, next_check_at, last_event_seq, last_event_hash)
    SELECT id, proposal_id, 1, 'bench.instant', 1, 'bench/1', 'bench', 'instant', 'acct_1', false,
           'ch_' || :charge::bigint, 'acct_1/ch_' || :charge::bigint, 100, 'eur',
           '{"charge": "ch_1", "amount_minor": 100}',
           convert_to('{"marker":{"epoch": 1},"on":"ch_1","with":{"amount_minor": 100}}', 'UTF8'),
           'digest', id::text,
           '{"references": [], "remaining_minor": null, "gone": [], "facts": {}}', at,
           authorization_id, at + '1 hour', at + '23 hours', 'created', 1, proposal_id,
           at + '90 s', at + '90 s', 1,
           event_hash('', id, 1, event_id, 'authorized', 'policy 1 small', at,
                      sha256(salt || convert_to(payload, 'UTF8')))
      FROM ids
    RETURNING id, last_event_hash
), y AS (
    INSERT INTO event_payloads (operation_id, seq, salt, payload) SELECT id, 1, salt, payload FROM ids
), e AS (
    INSERT INTO events (operation_id, seq, id, kind, actor, at, payload_digest, hash)
    SELECT id, 1, event_id, 'authorized', 'policy 1 small', at,
           sha256(salt || convert_to(payload, 'UTF8')), last_event_hash FROM ids JOIN o USING (id)
)
SELECT id AS id FROM ids \gset
WITH given AS MATERIALIZED (
    SELECT gen_random_uuid() AS event_id, clock_timestamp() AS at,
           '{"credential":"cred-1","digest":"0123456789abcdef0123456789abcdef"}' AS payload,
           decode('000102030405060708090a0b0c0d0e0f', 'hex') AS salt
), o AS (
    UPDATE operations o
       SET state = 'sent', in_doubt = true, attempt_count = attempt_count + 1,
           lease_until = at + interval '90 s', next_check_at = at + interval '90 s',
           send_not_after = at + interval '5 s', settled_at = at + interval '215 s',
           window_started_at = coalesce(window_started_at, at),
           last_event_seq = last_event_seq + 1,
           last_event_hash = event_hash(last_event_hash, id, last_event_seq + 1, event_id, 'sent',
                                        'worker bench', at,
                                        sha256(salt || convert_to(payload, 'UTF8')))
      FROM given WHERE id = :id::uuid AND fence = 1 AND state = 'created'
    RETURNING o.id, o.owner, o.attempt_count, o.last_event_seq, o.last_event_hash, given.*
), a AS (
    INSERT INTO attempts (operation_id, number, fence, owner, process, credential, started_at,
                          send_not_after)
    SELECT id, attempt_count, 1, owner, 'worker bench', 'cred-1', at, at + interval '5 s' FROM o
), y AS (
    INSERT INTO event_payloads (operation_id, seq, salt, payload)
    SELECT id, last_event_seq, salt, payload FROM o
)
INSERT INTO events (operation_id, seq, id, kind, actor, at, payload_digest, hash)
SELECT id, last_event_seq, event_id, 'sent', 'worker bench', at,
       sha256(salt || convert_to(payload, 'UTF8')), last_event_hash FROM o;
WITH given AS MATERIALIZED (
    SELECT gen_random_uuid() AS event_id, clock_timestamp() AS at,
           '{"attempt": 1,"code": null,"http_status": 200,"outcome":"accepted","reference":"re_1"}'
           AS payload, decode('000102030405060708090a0b0c0d0e0f', 'hex') AS salt
), a AS (
    UPDATE attempts SET outcome = 'accepted', finished_at = at,
           answer = '{"outcome": "accepted", "http_status": 200, "reference": "re_1"}'
      FROM given WHERE operation_id = :id::uuid AND number = 1 AND outcome IS NULL
), o AS (
    UPDATE operations o
       SET state = 'confirmed', in_doubt = false, reference = 're_' || id::text,
           provider_status = 'succeeded', owner = NULL, lease_until = NULL,
           next_check_at = at + interval '1 day', last_event_seq = last_event_seq + 1,
           last_event_hash = event_hash(last_event_hash, id, last_event_seq + 1, event_id,
                                        'answered', 'worker bench', at,
                                        sha256(salt || convert_to(payload, 'UTF8')))
      FROM given WHERE id = :id::uuid AND fence = 1 AND state = 'sent'
    RETURNING o.id, o.last_event_seq, o.last_event_hash, given.*
), y AS (
    INSERT INTO event_payloads (operation_id, seq, salt, payload)
    SELECT id, last_event_seq, salt, payload FROM o
)
INSERT INTO events (operation_id, seq, id, kind, actor, at, payload_digest, hash)
SELECT id, last_event_seq, event_id, 'answered', 'worker bench', at,
       sha256(salt || convert_to(payload, 'UTF8')), last_event_hash FROM o;

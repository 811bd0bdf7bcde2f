-- The first schema. Names as in the documentation; every time is the database's.
--
-- No foreign keys: rows that belong together are inserted by one statement, and nothing can be
-- deleted (see the triggers at the end), so a reference cannot dangle.

-- ── who we are, and what time it is ────────────────────────────────────────────────────────

CREATE TABLE ledger_identity (
    singleton          boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    ledger_id          uuid        NOT NULL DEFAULT gen_random_uuid(),
    epoch              integer     NOT NULL DEFAULT 1,  -- raised when a backup is restored
    is_test            boolean     NOT NULL DEFAULT false,
    high_water         timestamptz NOT NULL DEFAULT clock_timestamp(),
    min_reader_version integer     NOT NULL DEFAULT 1,  -- oldest code that can read this schema
    created_at         timestamptz NOT NULL DEFAULT clock_timestamp()
);
INSERT INTO ledger_identity DEFAULT VALUES;

-- The one clock. A database marked as a test database replaces it by a settable one.
CREATE FUNCTION ledger_now() RETURNS timestamptz LANGUAGE sql VOLATILE
    AS 'SELECT clock_timestamp()';

-- A promoted standby may have a clock that lags; the mark only rises.
CREATE FUNCTION clock_went_back() RETURNS boolean LANGUAGE sql VOLATILE
    AS $$ SELECT ledger_now() < high_water - interval '2 seconds' FROM ledger_identity $$;

-- ── what was decided ───────────────────────────────────────────────────────────────────────

CREATE TABLE proposals (
    id             uuid PRIMARY KEY,
    type           text        NOT NULL,
    type_version   integer     NOT NULL,
    version        integer     NOT NULL DEFAULT 1,
    requested_by   text        NOT NULL,
    request_key    text        NOT NULL,
    input_digest   text        NOT NULL,  -- SHA-256 over the canonical input
    items          integer     NOT NULL,
    mode           text        NOT NULL CHECK (mode IN ('auto', 'human')),
    state          text        NOT NULL CHECK (state IN ('awaiting', 'approved', 'rejected',
                                                         'expired', 'superseded', 'withdrawn')),
    decided_by     text,
    decided_at     timestamptz,
    reason         text,
    created_at     timestamptz NOT NULL,
    UNIQUE (requested_by, request_key)
);

CREATE TABLE authorizations (
    id               uuid PRIMARY KEY,
    proposal_id      uuid        NOT NULL,
    decided_by       text        NOT NULL,
    authorized_until timestamptz NOT NULL,  -- last moment of a first send
    resend_until     timestamptz NOT NULL,  -- last moment of recovery's resends
    revoked_at       timestamptz,
    revoked_by       text,
    revoked_reason   text,
    created_at       timestamptz NOT NULL
);
CREATE INDEX authorizations_of_proposal ON authorizations (proposal_id);

-- ── operations ─────────────────────────────────────────────────────────────────────────────

CREATE TABLE operations (
    -- never changes
    id                uuid PRIMARY KEY,
    proposal_id       uuid        NOT NULL,
    item              integer     NOT NULL,
    type              text        NOT NULL,
    type_version      integer     NOT NULL,
    adapter_version   text        NOT NULL,
    provider          text        NOT NULL,
    family            text        NOT NULL,
    account           text        NOT NULL,
    livemode          boolean     NOT NULL,
    object_id         text        NOT NULL,
    connected_account text,
    target            text        NOT NULL,
    amount_minor      bigint      CHECK (amount_minor > 0),
    currency          text        CHECK (currency ~ '^[a-z]{3}$'),
    parameters        jsonb       NOT NULL,
    request           bytea       NOT NULL,
    request_digest    text        NOT NULL,
    idempotency_key   text        NOT NULL UNIQUE,
    snapshot          jsonb       NOT NULL,
    trace_context     text,
    created_at        timestamptz NOT NULL,

    -- changes, by named statements only
    authorization_id  uuid        NOT NULL,
    authorized_until  timestamptz NOT NULL,  -- copied here so that one row lock covers the judgement
    resend_until      timestamptz NOT NULL,
    revoked_at        timestamptz,
    state             text        NOT NULL CHECK (state IN ('created', 'sent', 'confirmed', 'failed')),
    fence             bigint      NOT NULL DEFAULT 0,
    case_version      bigint      NOT NULL DEFAULT 0,
    owner             uuid,
    lease_until       timestamptz,
    next_check_at     timestamptz,           -- while owned: the end of the lease
    woken             boolean     NOT NULL DEFAULT false,
    window_started_at timestamptz,
    send_not_after    timestamptz,
    settled_at        timestamptz,
    attempt_count     integer     NOT NULL DEFAULT 0,
    in_doubt          boolean     NOT NULL DEFAULT false,
    escalated         boolean     NOT NULL DEFAULT false,
    never_send        boolean     NOT NULL DEFAULT false,
    acknowledged      text[]      NOT NULL DEFAULT '{}',  -- reasons that a person has answered
    corrections       integer     NOT NULL DEFAULT 0,
    reference         text,
    provider_status   text,
    failure_code      text,
    result            jsonb,
    decision          text,
    decision_since    timestamptz,
    decision_count    integer     NOT NULL DEFAULT 0,
    watches           integer     NOT NULL DEFAULT 0,
    last_event_seq    bigint      NOT NULL,
    last_event_hash   bytea       NOT NULL,

    UNIQUE (proposal_id, item),
    CHECK ((amount_minor IS NULL) = (currency IS NULL)),
    CHECK (state <> 'created' OR attempt_count = 0),
    CHECK (state = 'sent' OR NOT in_doubt),
    CHECK ((owner IS NULL) = (lease_until IS NULL))
);
-- Hot queries touch live rows only, so they cost the same at ten million as at ten thousand.
CREATE INDEX operations_due ON operations (provider, account, next_check_at)
    WHERE next_check_at IS NOT NULL;
CREATE INDEX operations_on_target ON operations (target)
    WHERE state IN ('created', 'sent') OR escalated;
CREATE INDEX operations_owned ON operations (owner) WHERE owner IS NOT NULL;
CREATE INDEX operations_in_doubt ON operations (window_started_at) WHERE in_doubt;
CREATE INDEX operations_of_authorization ON operations (authorization_id);
CREATE INDEX operations_alike ON operations (target, family, created_at);
CREATE INDEX operations_by_reference ON operations (reference) WHERE reference IS NOT NULL;

-- What resembles an item: an effect of the same family on the same target that stands or may yet.
-- Volatile, so that it sees what was committed while its caller waited for a lock.
CREATE FUNCTION look_alikes(wanted_target text, wanted_family text, within interval)
    RETURNS uuid[] LANGUAGE sql VOLATILE AS $$
    SELECT array_agg(id ORDER BY created_at DESC) FROM operations
     WHERE target = wanted_target AND family = wanted_family
       AND created_at > ledger_now() - within
       AND (state <> 'failed' OR escalated)
$$;

-- Whether something else on a target is in doubt or asked about. Volatile: after its caller's lock
-- wait it sees operations that did not exist when the caller's snapshot was taken.
CREATE FUNCTION is_target_busy(of_target text, but_not uuid) RETURNS boolean
    LANGUAGE sql VOLATILE AS $$
    SELECT EXISTS (SELECT FROM operations
                    WHERE target = of_target AND id <> but_not AND NOT never_send
                      AND (state IN ('created', 'sent') OR escalated)
                      AND (in_doubt OR escalated))
$$;

-- ── attempts and history, partitioned by the month of the operation (ids are time-ordered) ─

CREATE TABLE attempts (
    operation_id   uuid        NOT NULL,
    number         integer     NOT NULL,
    fence          bigint      NOT NULL,
    owner          uuid        NOT NULL,
    process        text        NOT NULL,
    credential     text        NOT NULL,  -- fingerprint, never the key
    trace_id       text,
    span_id        text,
    started_at     timestamptz NOT NULL,
    send_not_after timestamptz NOT NULL,
    finished_at    timestamptz,
    outcome        text CHECK (outcome IN ('accepted', 'refused', 'not_sent', 'ambiguous')),
    answer         jsonb,
    late           boolean     NOT NULL DEFAULT false,
    PRIMARY KEY (operation_id, number)
) PARTITION BY RANGE (operation_id);

CREATE TABLE events (
    operation_id   uuid        NOT NULL,
    seq            bigint      NOT NULL,
    id             uuid        NOT NULL,  -- given by the writer: proves that its commit stands
    kind           text        NOT NULL,
    actor          text        NOT NULL,
    at             timestamptz NOT NULL,
    payload_digest bytea       NOT NULL,  -- sha256(salt ‖ payload)
    hash           bytea       NOT NULL,
    xid            xid8        NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (operation_id, seq)
) PARTITION BY RANGE (operation_id);
CREATE INDEX events_by_xid ON events (xid);  -- what a checkpoint has not seen yet

-- Apart from the chain, so that a person's data can be erased and the chain still verifies.
CREATE TABLE event_payloads (
    operation_id uuid   NOT NULL,
    seq          bigint NOT NULL,
    salt         bytea  NOT NULL,
    payload      text   NOT NULL,
    PRIMARY KEY (operation_id, seq)
) PARTITION BY RANGE (operation_id);

CREATE TABLE attempts_other PARTITION OF attempts DEFAULT;
CREATE TABLE events_other PARTITION OF events DEFAULT;
CREATE TABLE event_payloads_other PARTITION OF event_payloads DEFAULT;

-- The smallest UUIDv7 of a moment (RFC 9562: 48 bits of Unix milliseconds come first).
CREATE FUNCTION uuid_floor(moment timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT rpad(lpad(to_hex((extract(epoch FROM moment) * 1000)::bigint), 12, '0'), 32, '0')::uuid
$$;

CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% of % is refused: %', TG_OP, TG_TABLE_NAME, TG_ARGV[0]
        USING ERRCODE = 'OL002';
END $$;

CREATE FUNCTION keep(name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TRIGGER kept BEFORE TRUNCATE ON %s FOR EACH STATEMENT '
                   'EXECUTE FUNCTION refuse(''history is kept'')', name);
END $$;

CREATE FUNCTION ensure_partitions(months_ahead integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    month timestamptz := date_trunc('month', ledger_now(), 'UTC');
    parent text;
    child text;
BEGIN
    FOR _ IN 0..months_ahead LOOP
        FOREACH parent IN ARRAY ARRAY['attempts', 'events', 'event_payloads'] LOOP
            child := parent || to_char(month AT TIME ZONE 'UTC', '_YYYY_MM');
            IF to_regclass(child) IS NULL THEN
                EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
                               child, parent, uuid_floor(month),
                               uuid_floor(date_trunc('month', month + interval '32 days', 'UTC')));
                PERFORM keep(child);
            END IF;
        END LOOP;
        month := date_trunc('month', month + interval '32 days', 'UTC');
    END LOOP;
END $$;
SELECT ensure_partitions(3);

-- One link of the chain. `sidecar` and anybody else can recompute it from the columns alone.
CREATE FUNCTION event_hash(previous bytea, operation_id uuid, seq bigint, id uuid, kind text,
                           actor text, at timestamptz, payload_digest bytea)
    RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT sha256(previous || convert_to(
        concat_ws('|', operation_id, seq, id, kind, actor,
                  (extract(epoch FROM at) * 1000000)::bigint) || '|', 'UTF8') || payload_digest)
$$;

-- Signed from time to time; an edit behind the triggers cannot recompute the signature.
CREATE TABLE checkpoints (
    number      bigint PRIMARY KEY,
    at          timestamptz NOT NULL,
    epoch       integer     NOT NULL,
    operations  integer     NOT NULL,
    snapshot    pg_snapshot NOT NULL,  -- what it saw: the next one enters what this one did not
    root        bytea       NOT NULL,  -- over the previous root and this checkpoint's entries
    key_id      text        NOT NULL,
    signature   bytea       NOT NULL
);
CREATE TABLE checkpoint_entries (
    number       bigint NOT NULL,
    operation_id uuid   NOT NULL,
    seq          bigint NOT NULL,
    hash         bytea  NOT NULL,
    PRIMARY KEY (number, operation_id)
);

-- ── recovery ───────────────────────────────────────────────────────────────────────────────

CREATE TABLE workers (
    incarnation   uuid PRIMARY KEY,
    identity      text        NOT NULL,
    host          text        NOT NULL,
    pid           integer     NOT NULL,
    started_at    timestamptz NOT NULL,
    heartbeat_at  timestamptz NOT NULL,
    beating_since timestamptz NOT NULL,  -- start of the unbroken series of heartbeats
    ended_at      timestamptz
);
CREATE INDEX workers_alive ON workers (heartbeat_at) WHERE ended_at IS NULL;

CREATE TABLE decision_records (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    operation_id  uuid        NOT NULL,
    at            timestamptz NOT NULL,
    line          integer     NOT NULL,  -- the row of the decision table
    code          text        NOT NULL,
    action        text        NOT NULL,
    considered    jsonb       NOT NULL,  -- the whole case
    code_version  text        NOT NULL,
    table_version integer     NOT NULL
);
CREATE INDEX decision_records_of_operation ON decision_records (operation_id, id);

CREATE TABLE escalations (
    id            uuid PRIMARY KEY,
    scope         text        NOT NULL CHECK (scope IN ('operation', 'account', 'effect')),
    operation_id  uuid,
    provider      text        NOT NULL,
    account       text        NOT NULL,
    reference     text,
    reasons       text[]      NOT NULL,
    members       uuid[]      NOT NULL DEFAULT '{}',  -- operations of an account's escalation
    opened_at     timestamptz NOT NULL,
    amount_minor  bigint,
    currency      text,
    window_ends_at timestamptz,
    dossier       jsonb       NOT NULL,
    claimed_by    text,
    claimed_until timestamptz,
    closed_at     timestamptz,
    closed_by     text,
    verdict       text,
    note          text,
    CHECK ((scope = 'operation') = (operation_id IS NOT NULL)),
    CHECK ((closed_at IS NULL) = (closed_by IS NULL))
);
CREATE UNIQUE INDEX escalations_one_open ON escalations (operation_id)
    WHERE closed_at IS NULL AND operation_id IS NOT NULL;
CREATE UNIQUE INDEX escalations_one_open_account ON escalations (provider, account)
    WHERE closed_at IS NULL AND scope = 'account';
CREATE UNIQUE INDEX escalations_one_open_effect ON escalations (provider, account, reference)
    WHERE closed_at IS NULL AND scope = 'effect';
CREATE INDEX escalations_of_operation ON escalations (operation_id) WHERE operation_id IS NOT NULL;

-- ── switches and budgets ───────────────────────────────────────────────────────────────────

CREATE TABLE brakes (
    scope  text PRIMARY KEY,  -- 'all', 'provider:stripe', 'type:stripe.refund'
    set_by text        NOT NULL,
    reason text        NOT NULL,
    set_at timestamptz NOT NULL
);
CREATE TABLE breakers (
    provider   text        NOT NULL,
    account    text        NOT NULL,
    credential text        NOT NULL,
    reason     text        NOT NULL,
    opened_at  timestamptz NOT NULL,
    open_until timestamptz NOT NULL,
    PRIMARY KEY (provider, account, credential)
);
CREATE TABLE provider_accounts (
    provider     text    NOT NULL,
    account      text    NOT NULL,
    livemode     boolean NOT NULL,
    outage_since timestamptz,  -- set while look-ups fail; the first send afterwards is a canary
    canary       uuid,
    canary_until timestamptz,
    PRIMARY KEY (provider, account)
);
CREATE TABLE read_budgets (
    provider    text NOT NULL,
    credential  text NOT NULL,
    reads_left  double precision NOT NULL,
    refilled_at timestamptz      NOT NULL,
    PRIMARY KEY (provider, credential)
);
CREATE TABLE resend_allowances (
    provider     text        NOT NULL,
    hour         timestamptz NOT NULL,
    currency     text        NOT NULL,  -- '' counts resends, others sum money
    used         bigint      NOT NULL,
    PRIMARY KEY (provider, hour, currency)
);

-- Why nothing may leave, if so. Volatile: sees a brake that was set during its caller's lock wait.
CREATE FUNCTION stopped_by(of_provider text, of_type text, of_account text, of_credential text)
    RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT CASE
        WHEN EXISTS (SELECT FROM brakes WHERE scope IN
                     ('all', 'provider:' || of_provider, 'type:' || of_type)) THEN 'brake_on'
        WHEN EXISTS (SELECT FROM breakers WHERE provider = of_provider AND account = of_account
                      AND credential = of_credential AND open_until > ledger_now())
             THEN 'breaker_open'
        WHEN clock_went_back() THEN 'clock_went_back' END
$$;

-- ── the last line: what the statements never try, the database refuses ─────────────────────

CREATE TABLE moves (before text NOT NULL, after text NOT NULL, PRIMARY KEY (before, after));
INSERT INTO moves VALUES ('created', 'sent'), ('created', 'failed'), ('sent', 'sent'),
    ('sent', 'confirmed'), ('sent', 'failed'), ('confirmed', 'failed'), ('failed', 'confirmed');

CREATE FUNCTION guard_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM moves WHERE before = OLD.state AND after = NEW.state) THEN
        RAISE EXCEPTION 'operation % cannot move from % to %', OLD.id, OLD.state, NEW.state
            USING ERRCODE = 'OL001';
    END IF;
    IF NEW.last_event_seq <= OLD.last_event_seq THEN
        RAISE EXCEPTION 'operation % moved without an event', OLD.id USING ERRCODE = 'OL001';
    END IF;
    IF OLD.state IN ('confirmed', 'failed') AND NEW.corrections = OLD.corrections THEN
        RAISE EXCEPTION 'operation % is final; only a correction moves it', OLD.id
            USING ERRCODE = 'OL001';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER guard_move BEFORE UPDATE OF state ON operations
    FOR EACH ROW WHEN (OLD.state IS DISTINCT FROM NEW.state) EXECUTE FUNCTION guard_move();

CREATE TRIGGER approved_stays BEFORE UPDATE OF id, proposal_id, item, type, type_version,
    adapter_version, provider, family, account, livemode, object_id, connected_account, target,
    amount_minor, currency, parameters, request, request_digest, idempotency_key, snapshot,
    trace_context, created_at ON operations
    FOR EACH ROW EXECUTE FUNCTION refuse('what was approved does not change');
CREATE TRIGGER operations_stay BEFORE DELETE OR TRUNCATE ON operations
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('operations are kept');
-- Row triggers are inherited by partitions, so naming a partition is no way around; TRUNCATE has
-- statement triggers only, which `keep` puts on each partition.
CREATE TRIGGER attempts_stay BEFORE DELETE ON attempts
    FOR EACH ROW EXECUTE FUNCTION refuse('attempts are kept');
CREATE TRIGGER attempt_stays BEFORE UPDATE OF operation_id, number, fence, owner, process,
    credential, trace_id, span_id, started_at, send_not_after ON attempts
    FOR EACH ROW EXECUTE FUNCTION refuse('only its answer is added to an attempt');
CREATE TRIGGER history_stays BEFORE UPDATE OR DELETE ON events
    FOR EACH ROW EXECUTE FUNCTION refuse('history is append-only');
CREATE TRIGGER payloads_stay BEFORE UPDATE ON event_payloads
    FOR EACH ROW EXECUTE FUNCTION refuse('payloads change only by erasure');
SELECT keep(name) FROM unnest(ARRAY['attempts', 'events', 'event_payloads', 'attempts_other',
                                     'events_other', 'event_payloads_other']) AS name;
CREATE TRIGGER checkpoints_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON checkpoints
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('checkpoints are append-only');
CREATE TRIGGER checkpoint_entries_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON checkpoint_entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('checkpoints are append-only');

CREATE FUNCTION guard_answer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.outcome IS NOT NULL THEN
        RAISE EXCEPTION 'attempt % of % has its outcome already', OLD.number, OLD.operation_id
            USING ERRCODE = 'OL002';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER answered_once BEFORE UPDATE ON attempts
    FOR EACH ROW EXECUTE FUNCTION guard_answer();

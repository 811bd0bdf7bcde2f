-- Approval is a process boundary: proposals that wait, votes, runs, messages out, tokens.

ALTER TABLE proposals
    ADD COLUMN agent_words       text,              -- the agent's rationale, unchecked
    ADD COLUMN input             jsonb,             -- as proposed: a list of parameters
    ADD COLUMN final_input       jsonb,             -- as approved, where a person changed it
    ADD COLUMN digest            text,              -- over the digests of all requests
    ADD COLUMN risk              text,
    ADD COLUMN policy_version    integer,
    ADD COLUMN rule              text,
    ADD COLUMN approvals         integer NOT NULL DEFAULT 1,
    ADD COLUMN preview           jsonb,
    ADD COLUMN expires_at        timestamptz,
    ADD COLUMN authorized_for_s  double precision,  -- life of the authorization, from the decision
    ADD COLUMN resend_for_s      double precision,
    ADD COLUMN supersedes        uuid,
    ADD COLUMN superseded_by     uuid,
    ADD COLUMN run_id            uuid,
    ADD COLUMN tool_call_id      text,
    ADD COLUMN trace_context     text;
CREATE INDEX proposals_awaiting ON proposals (expires_at) WHERE state = 'awaiting';
CREATE INDEX proposals_listed ON proposals (created_at, id);
CREATE INDEX proposals_of_run ON proposals (run_id) WHERE run_id IS NOT NULL;

-- The items of a proposal, complete: an approval only writes them down as operations.
CREATE TABLE proposal_items (
    proposal_id    uuid    NOT NULL,
    item           integer NOT NULL,
    operation_id   uuid    NOT NULL UNIQUE,
    target         text    NOT NULL,
    family         text    NOT NULL,
    request_digest text    NOT NULL,
    prepared       jsonb   NOT NULL,  -- the operation's columns, request included
    PRIMARY KEY (proposal_id, item)
);
CREATE TRIGGER items_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON proposal_items
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('what is proposed does not change');

CREATE TABLE votes (
    proposal_id uuid        NOT NULL,
    voter       text        NOT NULL,
    separate    integer[]   NOT NULL,
    voted_at    timestamptz NOT NULL,
    PRIMARY KEY (proposal_id, voter)
);

CREATE TABLE limit_counters (
    limit_name text   NOT NULL,
    key        text   NOT NULL,
    day        date   NOT NULL,
    unit       text   NOT NULL,  -- a currency, or '' for a number of operations
    used       bigint NOT NULL,
    PRIMARY KEY (limit_name, key, day, unit)
);

CREATE FUNCTION guard_proposal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.state <> 'awaiting' THEN
        RAISE EXCEPTION 'proposal % is % already', OLD.id, OLD.state USING ERRCODE = 'OL001';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER decided_once BEFORE UPDATE OF state ON proposals
    FOR EACH ROW WHEN (OLD.state IS DISTINCT FROM NEW.state) EXECUTE FUNCTION guard_proposal();
CREATE TRIGGER proposed_stays BEFORE UPDATE OF id, type, type_version, version, requested_by,
    request_key, input_digest, items, agent_words, input, digest, preview, run_id, tool_call_id
    ON proposals FOR EACH ROW EXECUTE FUNCTION refuse('what is proposed does not change');

-- ── messages that leave the ledger: notifications, resume calls ────────────────────────────

CREATE TABLE outbox (
    id         uuid PRIMARY KEY,
    kind       text        NOT NULL,  -- 'slack', 'webhook', 'resume'
    subject    uuid        NOT NULL,  -- the proposal, run or escalation that it tells of
    key        text        NOT NULL UNIQUE,  -- the same news is put in once
    payload    jsonb       NOT NULL,
    created_at timestamptz NOT NULL,
    due_at     timestamptz NOT NULL,
    attempts   integer     NOT NULL DEFAULT 0,
    last_error text,
    sent_at    timestamptz,
    gave_up_at timestamptz
);
CREATE INDEX outbox_due ON outbox (due_at) WHERE sent_at IS NULL AND gave_up_at IS NULL;

-- ── runs: agents suspended at a process boundary ───────────────────────────────────────────

CREATE TABLE runs (
    id             uuid PRIMARY KEY,
    agent          text        NOT NULL,
    run_key        text        NOT NULL,  -- the agent's own name for it
    checkpoint     jsonb       NOT NULL,  -- opaque to us
    steps_used     integer     NOT NULL DEFAULT 0,
    resume_url     text,
    state          text        NOT NULL CHECK (state IN ('suspended', 'ready', 'claimed', 'resumed')),
    generation     integer     NOT NULL DEFAULT 0,
    claimed_by     text,
    claimed_until  timestamptz,
    suspended_at   timestamptz NOT NULL,
    ready_at       timestamptz,
    resumed_at     timestamptz,
    UNIQUE (agent, run_key)
);
CREATE INDEX runs_open ON runs (state, claimed_until) WHERE state <> 'resumed';
CREATE TABLE run_calls (
    run_id       uuid    NOT NULL,
    position     integer NOT NULL,
    tool_call_id text    NOT NULL,
    name         text    NOT NULL,
    proposal_id  uuid,
    item         integer,  -- where several calls of one type became one batch
    status       text    NOT NULL,  -- 'executed', 'waiting', 'deferred'
    input        jsonb   NOT NULL,
    result       jsonb,
    PRIMARY KEY (run_id, position),
    UNIQUE (run_id, tool_call_id)
);
CREATE INDEX run_calls_of_proposal ON run_calls (proposal_id) WHERE proposal_id IS NOT NULL;

-- ── doors ──────────────────────────────────────────────────────────────────────────────────

CREATE TABLE tokens (
    id         uuid PRIMARY KEY,
    hash       bytea       NOT NULL UNIQUE,  -- SHA-256; a token is 32 random bytes
    name       text        NOT NULL,
    role       text        NOT NULL CHECK (role IN ('agent', 'approver', 'operator', 'reader', 'admin')),
    created_at timestamptz NOT NULL,
    created_by text        NOT NULL,
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz,
    used_at    timestamptz,
    once       boolean     NOT NULL DEFAULT false
);
CREATE TABLE people (
    name     text PRIMARY KEY,
    slack_id text UNIQUE
);
CREATE TABLE webhook_events (
    provider     text        NOT NULL,
    event_id     text        NOT NULL,
    type         text        NOT NULL,
    object_id    text,
    operation_id uuid,
    received_at  timestamptz NOT NULL,
    PRIMARY KEY (provider, event_id)
);
CREATE INDEX webhook_events_of_operation ON webhook_events (operation_id)
    WHERE operation_id IS NOT NULL;

-- How many others have said yes. Volatile: read under the proposal's lock, after any wait.
CREATE FUNCTION votes_of(of_proposal uuid, but_not text) RETURNS bigint LANGUAGE sql VOLATILE
    AS $$ SELECT count(*) FROM votes WHERE proposal_id = of_proposal AND voter <> but_not $$;

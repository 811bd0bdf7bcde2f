-- The console: one-time links to sign in with, sessions, and the acts of its forms.

CREATE TABLE sign_in_links (
    hash       bytea PRIMARY KEY,  -- SHA-256; the link holds 32 random bytes
    token_id   uuid        NOT NULL REFERENCES tokens (id),  -- whose standing it lends
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    used_at    timestamptz
);

CREATE TABLE sessions (
    id         uuid PRIMARY KEY,
    hash       bytea       NOT NULL UNIQUE,  -- SHA-256 of what the cookie holds
    token_id   uuid        NOT NULL REFERENCES tokens (id),  -- ends with it; name and role are its
    browser    text        NOT NULL,  -- what it calls itself, shortened: for its owner's list
    created_at timestamptz NOT NULL,
    used_at    timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz
);
CREATE INDEX sessions_of_token ON sessions (token_id) WHERE revoked_at IS NULL;

-- A form may arrive twice; the second arrival gets what the first one led to.
CREATE TABLE acts (
    session_id uuid        NOT NULL REFERENCES sessions (id),
    id         uuid        NOT NULL,
    path       text        NOT NULL,
    begun_at   timestamptz NOT NULL,
    led_to     text,  -- where the first one was sent; null while it is being done
    PRIMARY KEY (session_id, id)
);

-- What people and this ledger did that no row keeps: brakes let go, tokens ended, policies loaded.
CREATE TABLE deeds (
    id      uuid PRIMARY KEY,
    at      timestamptz NOT NULL,
    who     text        NOT NULL,  -- 'person:ines', 'ledger'; 'unknown' where it was not kept
    what    text        NOT NULL,  -- 'brake.released'; before the dot: what `subject` names
    subject text        NOT NULL,  -- a scope, an id, a version
    told    jsonb       NOT NULL
);
CREATE INDEX deeds_at ON deeds (at, id);
CREATE INDEX deeds_of_policy ON deeds (at, id) WHERE what IN ('policy.loaded', 'policy.broken');
CREATE TRIGGER deeds_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON deeds
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('history is append-only');

-- Who did what, by its time: each branch of `trail.sql` has its index.
CREATE INDEX proposals_asked ON proposals (created_at, id) WHERE mode = 'human';
CREATE INDEX proposals_decided ON proposals (decided_at, id)
    WHERE mode = 'human' AND decided_at IS NOT NULL;
CREATE INDEX votes_voted ON votes (voted_at);
CREATE INDEX authorizations_revoked ON authorizations (revoked_at, id) WHERE revoked_at IS NOT NULL;
CREATE INDEX escalations_closed ON escalations (closed_at, id) WHERE closed_at IS NOT NULL;

-- Failures are few and often looked for; whatever is confirmed never enters it.
CREATE INDEX operations_failed ON operations (id) WHERE state = 'failed';

-- What was done before there was a place for it, as far as rows still tell.
INSERT INTO deeds
SELECT gen_random_uuid(), set_at, set_by, 'brake.set', scope, jsonb_build_object('reason', reason)
  FROM brakes
 UNION ALL
SELECT gen_random_uuid(), created_at, created_by, 'token.made', id::text,
       jsonb_build_object('name', name, 'role', role, 'expires_at', expires_at)
  FROM tokens
 UNION ALL
SELECT gen_random_uuid(), revoked_at, 'unknown', 'token.revoked', id::text,
       jsonb_build_object('name', name, 'role', role)
  FROM tokens WHERE revoked_at IS NOT NULL;

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

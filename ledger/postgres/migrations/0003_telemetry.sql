-- How far each consumer has copied the history. A consumer reads events whose transactions are all
-- over (below the oldest one still running), in the order of (xid, operation, seq): no later commit
-- can get in before its place.
CREATE TABLE fact_cursors (
    consumer     text PRIMARY KEY,
    xid          xid8        NOT NULL DEFAULT '0',
    operation_id uuid        NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    seq          bigint      NOT NULL DEFAULT 0,
    holder       uuid        NOT NULL,  -- who copies now; another may take over afterwards
    held_until   timestamptz NOT NULL
);

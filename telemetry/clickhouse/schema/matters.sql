-- What was put before people: proposals that wait for a decision, and questions. One row once it is
-- asked, another once it moved on; read `outlive_matters_once`, where the newest counts. No names
-- and no words of people: those stay in PostgreSQL, where they can be erased.
CREATE TABLE IF NOT EXISTS outlive_matters (
    ledger_id    UUID,
    what         LowCardinality(String),  -- 'proposal' or 'question'
    id           UUID,
    type         LowCardinality(String),  -- the proposal's operation type, or the question's scope
    rule         LowCardinality(String),
    reasons      Array(LowCardinality(String)),
    items        UInt32,
    amount_minor Nullable(Int64),         -- of all items, where they are of one currency
    currency     LowCardinality(String),
    asked_at     DateTime64(6, 'UTC'),
    ended_at     Nullable(DateTime64(6, 'UTC')),
    ended        LowCardinality(String),  -- '' while it waits; the proposal's state, or the verdict
    shipped_at   DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = ReplacingMergeTree(shipped_at)
PARTITION BY toYYYYMM(asked_at)
ORDER BY (what, id);

CREATE VIEW IF NOT EXISTS outlive_matters_once AS SELECT * FROM outlive_matters FINAL;

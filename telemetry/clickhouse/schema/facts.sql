-- Every event of the ledger, copied at least once. The record is PostgreSQL's: this is for queries
-- that tie agent, operation and provider failure together. Read `outlive_events_once`: a copy that
-- was sent twice counts once there, whether or not it has been merged away.
CREATE TABLE IF NOT EXISTS outlive_events (
    ledger_id       UUID,
    operation_id    UUID,
    seq             UInt64,
    event_id        UUID,
    kind            LowCardinality(String),
    actor           String,
    at              DateTime64(6, 'UTC'),
    type            LowCardinality(String),
    provider        LowCardinality(String),
    account         String,
    target          String,
    amount_minor    Nullable(Int64),
    currency        LowCardinality(String),
    requested_by    String,
    agent_trace_id  String,         -- the trace of the agent that asked for it
    attempt         UInt32,         -- 0 where the event is about none
    trace_id        String,         -- of the attempt
    span_id         String,
    state           LowCardinality(String),
    outcome         LowCardinality(String),
    provider_code   LowCardinality(String),
    http_status     UInt16,
    request_id      String,
    reference       String,
    decision        LowCardinality(String),
    action          LowCardinality(String),
    shipped_at      DateTime64(3, 'UTC') DEFAULT now64(3),
    INDEX idx_trace trace_id       TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX idx_agent agent_trace_id TYPE bloom_filter(0.001) GRANULARITY 1
) ENGINE = ReplacingMergeTree(shipped_at)
PARTITION BY toYYYYMM(at)
ORDER BY (operation_id, seq, event_id);

CREATE VIEW IF NOT EXISTS outlive_events_once AS SELECT * FROM outlive_events FINAL;

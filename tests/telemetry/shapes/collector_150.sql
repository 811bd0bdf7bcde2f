-- The collector up to v0.150: log records by `TimestampTime`, without event names. Its spans are
-- those of today.
CREATE TABLE otel_logs (
    Timestamp          DateTime64(9),
    TimestampTime      DateTime DEFAULT toDateTime(Timestamp),
    TraceId            String,
    SpanId             String,
    TraceFlags         UInt8,
    SeverityText       LowCardinality(String),
    SeverityNumber     UInt8,
    ServiceName        LowCardinality(String),
    Body               String,
    ResourceSchemaUrl  LowCardinality(String),
    ResourceAttributes Map(LowCardinality(String), String),
    ScopeSchemaUrl     LowCardinality(String),
    ScopeName          String,
    ScopeVersion       LowCardinality(String),
    ScopeAttributes    Map(LowCardinality(String), String),
    LogAttributes      Map(LowCardinality(String), String),
    INDEX idx_trace_id       TraceId                  TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX idx_log_attr_key   mapKeys(LogAttributes)   TYPE bloom_filter(0.01)  GRANULARITY 1,
    INDEX idx_log_attr_value mapValues(LogAttributes) TYPE bloom_filter(0.01)  GRANULARITY 1
) ENGINE = MergeTree
PARTITION BY toDate(TimestampTime)
PRIMARY KEY (ServiceName, TimestampTime)
ORDER BY (ServiceName, TimestampTime, Timestamp);

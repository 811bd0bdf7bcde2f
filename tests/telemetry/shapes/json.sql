-- The collector with `json: true`: another query language, refused.
CREATE TABLE otel_traces (
    Timestamp          DateTime64(9),
    TraceId            String,
    SpanId             String,
    ParentSpanId       String,
    TraceState         String,
    SpanName           LowCardinality(String),
    SpanKind           LowCardinality(String),
    ServiceName        LowCardinality(String),
    ResourceAttributes JSON,
    ScopeName          String,
    ScopeVersion       String,
    SpanAttributes     JSON,
    Duration           UInt64,
    StatusCode         LowCardinality(String),
    StatusMessage      String,
    `Events.Timestamp`  Array(DateTime64(9)),
    `Events.Name`       Array(LowCardinality(String)),
    `Events.Attributes` Array(JSON),
    `Links.TraceId`     Array(String),
    `Links.SpanId`      Array(String),
    `Links.TraceState`  Array(String),
    `Links.Attributes`  Array(JSON)
) ENGINE = MergeTree
PARTITION BY toDate(Timestamp)
ORDER BY (ServiceName, SpanName, toDateTime(Timestamp));

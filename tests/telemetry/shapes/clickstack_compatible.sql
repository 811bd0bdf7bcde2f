-- ClickStack's own tables on servers before 26.2: events and links as flat arrays, materialized
-- columns, no table of trace times.
CREATE TABLE otel_traces (
    Timestamp          DateTime64(9),
    TraceId            String,
    SpanId             String,
    ParentSpanId       String,
    TraceState         String,
    SpanName           LowCardinality(String),
    SpanKind           LowCardinality(String),
    ServiceName        LowCardinality(String),
    ResourceAttributes Map(LowCardinality(String), String),
    ScopeName          String,
    ScopeVersion       String,
    SpanAttributes     Map(LowCardinality(String), String),
    Duration           UInt64,
    StatusCode         LowCardinality(String),
    StatusMessage      String,
    `Events.Timestamp`  Array(DateTime64(9)),
    `Events.Name`       Array(LowCardinality(String)),
    `Events.Attributes` Array(Map(LowCardinality(String), String)),
    `Links.TraceId`     Array(String),
    `Links.SpanId`      Array(String),
    `Links.TraceState`  Array(String),
    `Links.Attributes`  Array(Map(LowCardinality(String), String)),
    `__hdx_materialized_rum.sessionId` String MATERIALIZED ResourceAttributes['rum.sessionId'],
    SampleRate UInt64 MATERIALIZED greatest(toUInt64OrZero(SpanAttributes['SampleRate']), 1),
    INDEX idx_trace_id        TraceId                       TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX idx_res_attr_key    mapKeys(ResourceAttributes)   TYPE bloom_filter(0.01)  GRANULARITY 1,
    INDEX idx_res_attr_value  mapValues(ResourceAttributes) TYPE bloom_filter(0.01)  GRANULARITY 1,
    INDEX idx_span_attr_key   mapKeys(SpanAttributes)       TYPE bloom_filter(0.01)  GRANULARITY 1,
    INDEX idx_span_attr_value mapValues(SpanAttributes)     TYPE bloom_filter(0.01)  GRANULARITY 1,
    INDEX idx_duration        Duration                      TYPE minmax              GRANULARITY 1
) ENGINE = MergeTree
PARTITION BY toDate(Timestamp)
ORDER BY (ServiceName, SpanName, toDateTime(Timestamp));

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
    `__hdx_materialized_k8s.pod.name` LowCardinality(String)
        MATERIALIZED ResourceAttributes['k8s.pod.name'],
    INDEX idx_trace_id       TraceId                  TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX idx_log_attr_key   mapKeys(LogAttributes)   TYPE bloom_filter(0.01)  GRANULARITY 1,
    INDEX idx_log_attr_value mapValues(LogAttributes) TYPE bloom_filter(0.01)  GRANULARITY 1
) ENGINE = MergeTree
PARTITION BY toDate(TimestampTime)
PRIMARY KEY (ServiceName, TimestampTime)
ORDER BY (ServiceName, TimestampTime, Timestamp);

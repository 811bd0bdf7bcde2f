-- Spans, in the columns of the OpenTelemetry collector's ClickHouse exporter, so that a collector
-- can write beside us and any reader of its tables can read ours. Names, types and order:
-- https://github.com/open-telemetry/opentelemetry-collector-contrib/tree/main/exporter/clickhouseexporter
CREATE TABLE IF NOT EXISTS otel_traces (
    Timestamp          DateTime64(9),  -- start of the span
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
    Duration           UInt64,  -- nanoseconds
    StatusCode         LowCardinality(String),
    StatusMessage      String,
    Events             Nested(Timestamp DateTime64(9), Name LowCardinality(String),
                              Attributes Map(LowCardinality(String), String)),
    Links              Nested(TraceId String, SpanId String, TraceState String,
                              Attributes Map(LowCardinality(String), String)),
    INDEX idx_trace_id        TraceId                       TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX idx_res_attr_key    mapKeys(ResourceAttributes)   TYPE bloom_filter(0.01)  GRANULARITY 1,
    INDEX idx_res_attr_value  mapValues(ResourceAttributes) TYPE bloom_filter(0.01)  GRANULARITY 1,
    INDEX idx_span_attr_key   mapKeys(SpanAttributes)       TYPE bloom_filter(0.01)  GRANULARITY 1,
    INDEX idx_span_attr_value mapValues(SpanAttributes)     TYPE bloom_filter(0.01)  GRANULARITY 1,
    INDEX idx_duration        Duration                      TYPE minmax              GRANULARITY 1
) ENGINE = MergeTree
PARTITION BY toDate(Timestamp)
ORDER BY (ServiceName, SpanName, toDateTime(Timestamp))
SETTINGS ttl_only_drop_parts = 1;

-- When each trace began and ended, to the second: a look-up by trace id reads these days only.
CREATE TABLE IF NOT EXISTS otel_traces_trace_id_ts (
    TraceId String,
    Start   DateTime,
    End     DateTime,
    INDEX idx_trace_id TraceId TYPE bloom_filter(0.01) GRANULARITY 1
) ENGINE = MergeTree
PARTITION BY toDate(Start)
ORDER BY (TraceId, Start)
SETTINGS ttl_only_drop_parts = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS otel_traces_trace_id_ts_mv TO otel_traces_trace_id_ts AS
SELECT TraceId, min(Timestamp) AS Start, max(Timestamp) AS End
  FROM otel_traces WHERE TraceId != '' GROUP BY TraceId;

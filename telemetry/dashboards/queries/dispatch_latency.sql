-- How long attempts took, from before the gate to the answer, in milliseconds.
SELECT toStartOfInterval(Timestamp, INTERVAL {step:UInt32} SECOND) AS time,
       quantileExact(0.5)(Duration) / 1e6 AS p50_ms,
       quantileExact(0.95)(Duration) / 1e6 AS p95_ms,
       quantileExact(0.99)(Duration) / 1e6 AS p99_ms
  FROM otel_traces
 WHERE Timestamp >= {from:DateTime64(3, 'UTC')} AND Timestamp < {to:DateTime64(3, 'UTC')}
   AND ServiceName = 'outlive' AND SpanName = 'operation.dispatch'
 GROUP BY time ORDER BY time

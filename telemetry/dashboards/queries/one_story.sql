-- Agent, operation and provider failure in one answer. For every operation with an attempt whose
-- outcome nobody heard: who asked for it and in which trace, whether the attempt's own span is
-- missing (its process was lost), in which trace recovery took it up, what it decided, and where
-- the record stands.
WITH heard AS (
    SELECT operation_id, attempt
      FROM outlive_events_once
     WHERE kind = 'answered' AND outcome != 'ambiguous'
), told AS (
    SELECT *, kind = 'sent' AND (operation_id, attempt) NOT IN heard AS unheard
      FROM outlive_events_once
     WHERE state != ''
), lost AS (
    SELECT operation_id, any(type) AS type, any(requested_by) AS requested_by,
           any(agent_trace_id) AS agent_trace, argMaxIf(told.attempt, seq, unheard) AS attempt,
           maxIf(at, unheard) AS sent_at, argMaxIf(span_id, seq, unheard) AS attempt_span,
           argMax(state, seq) AS record
      FROM told
     GROUP BY operation_id
    HAVING countIf(unheard) > 0
       AND sent_at >= {from:DateTime64(3, 'UTC')} AND sent_at < {to:DateTime64(3, 'UTC')}
), agents AS (
    SELECT TraceId, count() AS spans
      FROM otel_traces
     WHERE Timestamp >= {from:DateTime64(3, 'UTC')} AND Timestamp < {to:DateTime64(3, 'UTC')}
       AND TraceId IN (SELECT agent_trace FROM lost)
     GROUP BY TraceId
), ours AS (
    SELECT SpanAttributes['operation.id'] AS operation, groupUniqArray(SpanId) AS spans,
           argMaxIf(TraceId, Timestamp, SpanName = 'operation.recover') AS recovery_trace,
           argMaxIf(SpanAttributes['operation.recovery.decision'], Timestamp,
                    SpanName = 'operation.recover') AS decision
      FROM otel_traces
     WHERE Timestamp >= {from:DateTime64(3, 'UTC')} AND Timestamp < {to:DateTime64(3, 'UTC')}
       AND ServiceName = 'outlive'
     GROUP BY operation
)
SELECT lost.operation_id AS operation_id, type, requested_by, agent_trace,
       agents.spans AS agent_spans, attempt, sent_at, NOT has(ours.spans, attempt_span) AS span_lost,
       recovery_trace, decision, record
  FROM lost
  LEFT JOIN agents ON agents.TraceId = lost.agent_trace
  LEFT JOIN ours ON ours.operation = toString(lost.operation_id)
 ORDER BY sent_at DESC

"""Spans, log records and ledger facts of one operation, out of any known shape of the tables.

By trace id first (indexed in every shape), inside the time that the ledger gives; by the
`operation.id` attribute second, for spans in traces that the ledger does not know. Everything is
bounded in time and rows, and read twice counts once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from dispatcher import trace_names as names
from telemetry.clickhouse.client import Row, Store
from telemetry.clickhouse.variant import Variant, detect
from telemetry.timeline import Entry, Found, Source, number_of

SPANS_MOST: Final = 2_000
RECORDS_MOST: Final = 500
_SLACK: Final = timedelta(hours=1)
"""How far a process's clock may be from the database's."""
_SHOWN: Final = (
    names.STATE_FROM,
    names.STATE_TO,
    names.ATTEMPT_OUTCOME,
    names.ATTEMPT_CODE,
    names.RECOVERY_DECISION,
    names.RECOVERY_ACTION,
    names.ESCALATION_REASON,
    names.GATE_STOP,
    names.ORIGINAL_TRACE_ID,
    names.HTTP_STATUS,
)
_TIMES = """
SELECT min(Start), max(End) + 1 FROM otel_traces_trace_id_ts
 WHERE TraceId IN {traces:Array(String)}
   AND Start >= {since:DateTime64(6, 'UTC')} AND Start <= {until:DateTime64(6, 'UTC')}
"""
_SPANS = """
SELECT toUnixTimestamp64Nano(Timestamp), TraceId, SpanId, ParentSpanId, SpanName, ServiceName,
       Duration, StatusCode, StatusMessage, SpanAttributes, Links.TraceId, Links.SpanId
  FROM otel_traces
 WHERE Timestamp >= {since:DateTime64(6, 'UTC')} AND Timestamp <= {until:DateTime64(6, 'UTC')}
   AND %s
 ORDER BY ServiceName = 'outlive' DESC, Timestamp
 LIMIT 1 BY TraceId, SpanId LIMIT {most:UInt32}
"""
_RECORDS = """
SELECT toUnixTimestamp64Nano(Timestamp), TraceId, SpanId, ServiceName, SeverityText, Body,
       LogAttributes
  FROM otel_logs
 WHERE Timestamp >= {since:DateTime64(6, 'UTC')} AND Timestamp <= {until:DateTime64(6, 'UTC')}
   AND %s
 ORDER BY ServiceName = 'outlive' DESC, Timestamp
 LIMIT 1 BY TraceId, SpanId, Body LIMIT {most:UInt32}
"""
_FACTS = """
SELECT toUnixTimestamp64Micro(at) * 1000, kind, actor, attempt, trace_id, span_id, state, outcome,
       provider_code, decision, action
  FROM outlive_events_once WHERE operation_id = {operation:UUID}
 ORDER BY seq LIMIT {most:UInt32}
"""


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for."""

    operation_id: UUID
    trace_ids: Sequence[str]
    """Of the agent and of the attempts; empty where the ledger did not answer."""
    since: datetime
    until: datetime

    def values(self, most: int) -> dict[str, Any]:
        """As query parameters; one row more than is shown tells whether there are more."""
        return {
            "operation": str(self.operation_id),
            "traces": list(self.trace_ids),
            "since": self.since - _SLACK,
            "until": self.until + _SLACK,
            "most": most + 1,
        }


def read_spans(store: Store, question: Question, *, most: int = SPANS_MOST) -> Found:
    """Spans of the operation, of its attempts' traces and of the agent's.

    Raises:
        ClickHouseUnreachable: No answer in time.
        UnsupportedSchema: Attributes are JSON.
    """
    variant = detect(store)
    if not variant.traces:
        return Found(Source.TRACES, (), "ClickHouse has no trace tables yet", "not_configured")
    near = _narrowed(store, variant, question)
    rows = _read(store, _SPANS, _span_filters(variant), question, most, near=near)
    entries = [_span(row) for row in rows[:most]]
    return Found(Source.TRACES, entries, cut=len(rows) > most)


def read_records(store: Store, question: Question, *, most: int = RECORDS_MOST) -> Found:
    """Log records of the operation. Raises as `read_spans` does."""
    variant = detect(store)
    if not variant.logs:
        return Found(Source.LOGS, (), "ClickHouse has no log tables yet", "not_configured")
    rows = _read(store, _RECORDS, _record_filters(variant), question, most)
    return Found(Source.LOGS, [_log(row) for row in rows[:most]], cut=len(rows) > most)


def read_facts(store: Store, question: Question, *, most: int = RECORDS_MOST) -> Found:
    """The ledger's history as it was copied: for when PostgreSQL does not answer."""
    if not detect(store).facts:
        return Found(Source.LEDGER, (), "ClickHouse has no ledger facts", "not_configured")
    rows = store.rows(_FACTS, question.values(most), most=most + 1)
    return Found(Source.LEDGER, [_fact(row) for row in rows[:most]], cut=len(rows) > most)


def _span_filters(variant: Variant) -> Sequence[str]:
    return _filters("SpanAttributes", "SpanAttributeItems" if variant.span_items else None)


def _record_filters(variant: Variant) -> Sequence[str]:
    return _filters("LogAttributes", "LogAttributeItems" if variant.log_items else None)


def _filters(attributes: str, items: str | None) -> Sequence[str]:
    """Two queries, not one with OR: in ClickStack's shape OR would read the whole table.

    A trace holds everything that was asked for in it: a batch of thousands shares one. What is of
    another operation is left out.
    """
    by_trace = (
        "TraceId IN {traces:Array(String)}"
        f" AND {attributes}['{names.OPERATION_ID}'] IN ('', {{operation:String}})"
    )
    by_operation = (
        f"{attributes}['{names.OPERATION_ID}'] = {{operation:String}}"
        if items is None
        else f"has({items}, concat('{names.OPERATION_ID}=', {{operation:String}}))"
    )
    return by_trace, by_operation


def _read(
    store: Store,
    query: str,
    filters: Sequence[str],
    question: Question,
    most: int,
    *,
    near: Question | None = None,
) -> list[Row]:
    by_trace, by_operation = filters
    rows: list[Row] = []
    if question.trace_ids:
        rows += store.rows(query % by_trace, (near or question).values(most), most=most + 1)
    rows += store.rows(query % by_operation, question.values(most), most=most + 1)
    once = {(row[0], row[1], row[2]): row for row in rows}
    return sorted(once.values(), key=lambda row: int(row[0]))


def _narrowed(store: Store, variant: Variant, question: Question) -> Question:
    """Where each trace's begin and end are kept, read no other days."""
    if not variant.trace_times or not question.trace_ids:
        return question
    [(start, end)] = store.rows(_TIMES, question.values(1))
    if start is None or start.year <= 1970:  # noqa: PLR2004  no such trace: DateTime's zero
        return question
    since, until = (
        start.replace(tzinfo=question.since.tzinfo),
        end.replace(tzinfo=question.since.tzinfo),
    )
    return Question(
        question.operation_id,
        question.trace_ids,
        max(question.since, since),
        min(question.until, until),
    )


def _span(row: Row) -> Entry:
    at_ns, trace, span, parent, name, service, duration, status, message, attributes, *links = row
    details = _details(attributes)
    if links[0]:
        details["links to"] = ", ".join(f"{t}/{s}" for t, s in zip(*links, strict=True))
    if message:
        details["message"] = message
    return Entry(
        at_ns=int(at_ns),
        source=Source.TRACES,
        name=name,
        attempt=number_of(attributes),
        trace_id=trace,
        span_id=span,
        parent_span_id=parent or None,
        duration_ns=int(duration),
        status="error" if status.upper().endswith("ERROR") else "",
        who=service,
        details=details,
    )


def _log(row: Row) -> Entry:
    at_ns, trace, span, service, severity, body, attributes = row
    return Entry(
        at_ns=int(at_ns),
        source=Source.LOGS,
        name=body,
        attempt=number_of(attributes),
        trace_id=trace or None,
        span_id=span or None,
        status="" if severity.upper() in {"", "INFO"} else severity.lower(),
        who=service,
        details=_details(attributes),
    )


def _fact(row: Row) -> Entry:
    at_ns, kind, actor, attempt, trace, span, *said = row
    keys = ("state", "outcome", "code", "decision", "action")
    return Entry(
        at_ns=int(at_ns),
        source=Source.LEDGER,
        name=kind,
        attempt=attempt or None,
        trace_id=trace or None,
        span_id=span or None,
        who=actor,
        details={key: value for key, value in zip(keys, said, strict=True) if value},
    )


def _details(attributes: Mapping[str, str]) -> dict[str, str]:
    return {
        key.removeprefix("operation."): attributes[key] for key in _SHOWN if attributes.get(key)
    }

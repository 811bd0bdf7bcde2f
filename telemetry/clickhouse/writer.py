"""Spans and started records straight into ClickHouse, in the collector's columns.

Values as the collector writes them: attributes as text, kinds and status in words, ids in lower
case hexadecimal, times in nanoseconds.
"""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import format_span_id, format_trace_id

from telemetry.clickhouse.client import Row, Store
from telemetry.clickhouse.tables import ensure
from telemetry.clickhouse.variant import detect
from telemetry.errors import ClickHouseUnreachable, UnsupportedSchema
from telemetry.names import SERVICE
from telemetry.spool import Record

_SPAN_COLUMNS: Final = (
    "Timestamp",
    "TraceId",
    "SpanId",
    "ParentSpanId",
    "TraceState",
    "SpanName",
    "SpanKind",
    "ServiceName",
    "ResourceAttributes",
    "ScopeName",
    "ScopeVersion",
    "SpanAttributes",
    "Duration",
    "StatusCode",
    "StatusMessage",
    "Events.Timestamp",
    "Events.Name",
    "Events.Attributes",
    "Links.TraceId",
    "Links.SpanId",
    "Links.TraceState",
    "Links.Attributes",
)
_LOG_COLUMNS: Final = (
    "Timestamp",
    "TraceId",
    "SpanId",
    "TraceFlags",
    "SeverityText",
    "SeverityNumber",
    "ServiceName",
    "Body",
    "ResourceAttributes",
    "ScopeName",
    "LogAttributes",
)
_INFO: Final = 9
"""The severity number of INFO: https://opentelemetry.io/docs/specs/otel/logs/data-model/"""


class ClickHouse:
    """The connection that writes: opened when first needed, opened anew after a failure."""

    def __init__(self, connect: Callable[[], Store]) -> None:
        self._connect = connect
        self._store: Store | None = None
        self._event_names = False
        self._lock = threading.Lock()

    def insert_spans(self, spans: Sequence[ReadableSpan]) -> None:
        """Write spans.

        Raises:
            ClickHouseUnreachable: They may or may not be there.
            UnsupportedSchema: They can't be written there.
        """
        self._insert("otel_traces", _SPAN_COLUMNS, [_span_row(span) for span in spans])

    def insert_records(self, records: Sequence[Record]) -> None:
        """Write started records. Raises as `insert_spans` does."""
        self._open()
        columns = (*_LOG_COLUMNS, "EventName") if self._event_names else _LOG_COLUMNS
        width = len(columns)
        self._insert("otel_logs", columns, [_log_row(record)[:width] for record in records])

    def insert_facts(self, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Write ledger facts. Raises as `insert_spans` does."""
        self._insert("outlive_events", columns, rows)

    def insert_matters(self, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Write what was put before people. Raises as `insert_spans` does."""
        self._insert("outlive_matters", columns, rows)

    def rows(self, query: str, parameters: Mapping[str, Any], *, most: int) -> Sequence[Row]:
        """Read, over the connection that writes. Raises as `insert_spans` does."""
        try:
            return self._open().rows(query, parameters, most=most)
        except ClickHouseUnreachable:
            self.close()
            raise

    def _open(self) -> Store:
        with self._lock:
            if self._store is None:
                store = self._connect()
                ensure(store)
                self._event_names = detect(store).event_names
                self._store = store
            return self._store

    def _insert(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        if not rows:
            return
        try:
            self._open().insert(table, columns, rows)
        except ClickHouseUnreachable:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            store, self._store = self._store, None
        if store is not None:
            store.close()


class ClickHouseExporter(SpanExporter):
    """Spans into `otel_traces`."""

    def __init__(self, clickhouse: ClickHouse) -> None:
        self._clickhouse = clickhouse

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Write a batch; what can't be written is lost, as the timeline will say."""
        try:
            self._clickhouse.insert_spans(spans)
        except (ClickHouseUnreachable, UnsupportedSchema):
            return SpanExportResult.FAILURE
        return SpanExportResult.SUCCESS


def _span_row(span: ReadableSpan) -> list[Any]:
    assert span.context is not None  # noqa: S101  only a span of the SDK comes here
    start = span.start_time or 0
    resource = texts(span.resource.attributes)
    scope = span.instrumentation_scope
    return [
        start,
        format_trace_id(span.context.trace_id),
        format_span_id(span.context.span_id),
        "" if span.parent is None else format_span_id(span.parent.span_id),
        "",
        span.name,
        span.kind.name.capitalize(),
        resource.get("service.name", SERVICE),
        resource,
        "" if scope is None else scope.name,
        "" if scope is None else scope.version or "",
        texts(span.attributes),
        max(0, (span.end_time or start) - start),
        span.status.status_code.name.capitalize(),
        span.status.description or "",
        [event.timestamp for event in span.events],
        [event.name for event in span.events],
        [texts(event.attributes) for event in span.events],
        [format_trace_id(link.context.trace_id) for link in span.links],
        [format_span_id(link.context.span_id) for link in span.links],
        ["" for _ in span.links],
        [texts(link.attributes) for link in span.links],
    ]


def _log_row(record: Record) -> list[Any]:
    resource = texts(record.get("resource"))
    return [
        int(record["at_ns"]),
        record["trace_id"],
        record["span_id"],
        1,
        "INFO",
        _INFO,
        resource.get("service.name", SERVICE),
        record["event"],
        resource,
        SERVICE,
        texts(record["attributes"]),
        record["event"],
    ]


def texts(attributes: Mapping[str, object] | None) -> dict[str, str]:
    """Attributes as the collector writes them, in the order of their keys."""
    return {key: _text(value) for key, value in sorted((attributes or {}).items())}


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)

"""Which of the known shapes the trace tables have, read from the server's own catalogue.

Collectors never alter a table that exists, so every shape that was ever current is met: those of
the OpenTelemetry collector before and since v0.151, and those of ClickStack, with and without
text indexes. Attributes as JSON are another query language, and are refused.
"""

from dataclasses import dataclass

from telemetry.clickhouse.client import Store
from telemetry.errors import UnsupportedSchema

_COLUMNS = """
SELECT table, name, type, default_kind FROM system.columns
 WHERE database = currentDatabase()
   AND table IN ('otel_traces', 'otel_logs', 'otel_traces_trace_id_ts', 'outlive_events')
"""


@dataclass(frozen=True, slots=True)
class Variant:
    """What can be relied on beyond the columns that all shapes share."""

    traces: bool
    logs: bool
    facts: bool
    trace_times: bool
    """`otel_traces_trace_id_ts` is there: begin and end of each trace."""
    span_items: bool
    """`SpanAttributeItems` is there: attributes as `key=value`, with an index on them."""
    log_items: bool
    event_names: bool
    """`otel_logs.EventName` is there."""
    log_time: bool
    """`otel_logs.TimestampTime` is there, and is what the table is ordered by."""

    @property
    def name(self) -> str:
        """For people."""
        if not self.traces:
            return "no trace tables"
        if self.span_items:
            return "ClickStack"
        if not self.trace_times:
            return "ClickStack, compatible"
        return "collector up to 0.150" if self.log_time else "collector"


def detect(store: Store) -> Variant:
    """Read the catalogue.

    Raises:
        ClickHouseUnreachable: No answer.
        UnsupportedSchema: Attributes are JSON.
    """
    columns = {(table, name): kind for table, name, kind, _ in store.rows(_COLUMNS)}
    for (table, name), kind in columns.items():
        if name.endswith("Attributes") and kind.startswith(("JSON", "Object", "Array(JSON")):
            raise UnsupportedSchema(
                f"{table}.{name} is of type {kind.split('(')[0]}: this reader knows attributes as "
                "maps. Set `json: false` in the collector's ClickHouse exporter and let it make "
                "new tables, or point OUTLIVE_CLICKHOUSE_URL at a database that has them."
            )
    return Variant(
        traces=("otel_traces", "SpanAttributes") in columns,
        logs=("otel_logs", "LogAttributes") in columns,
        facts=("outlive_events", "event_id") in columns,
        trace_times=("otel_traces_trace_id_ts", "End") in columns,
        span_items=("otel_traces", "SpanAttributeItems") in columns,
        log_items=("otel_logs", "LogAttributeItems") in columns,
        event_names=("otel_logs", "EventName") in columns,
        log_time=("otel_logs", "TimestampTime") in columns,
    )

"""How long a timeline takes among ten million spans, against the bare look-up by trace id.

`python bench/evidence.py [--spans N] [--json]`. Both in one run, on the embedded ClickHouse: only
the ratio travels. The timeline asks more: which shape the tables have, the trace's begin and end,
the spans by trace, and those by the operation's attribute in other traces.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from uuid import UUID

from telemetry.clickhouse.client import Store, connect
from telemetry.clickhouse.embedded import acquire
from telemetry.clickhouse.reader import Question, read_spans
from telemetry.clickhouse.tables import ensure

SPANS: Final = 10_000_000
SPANS_A_TRACE: Final = 20
DAYS: Final = 7
TIMES: Final = 21
RATIO_MOST: Final = 20.0

_FILL: Final = """
INSERT INTO otel_traces (Timestamp, TraceId, SpanId, SpanName, SpanKind, ServiceName,
                         SpanAttributes, Duration, StatusCode)
SELECT now64(9) - toIntervalSecond(intDiv(number, {each:UInt64}) % {seconds:UInt64}),
       lower(hex(MD5(toString(intDiv(number, {each:UInt64}))))),
       lower(hex(sipHash64(number))), 'operation.dispatch', 'Client',
       ['outlive', 'agent', 'web'][number % 3 + 1],
       map('operation.attempt.number', '1', 'operation.id',
           toString(reinterpretAsUUID(MD5(toString(intDiv(number, {each:UInt64})))))),
       1000000, 'Ok'
  FROM numbers({first:UInt64}, {count:UInt64})
"""
_BARE: Final = "SELECT * FROM otel_traces WHERE TraceId = {trace:String}"
_ONE: Final = """
SELECT TraceId, toUUID(SpanAttributes['operation.id']) FROM otel_traces LIMIT 1
"""
_BATCH: Final = 250_000


def fill(store: Store, spans: int) -> None:
    """Spans over a week, made by the server."""
    values = {"each": SPANS_A_TRACE, "seconds": DAYS * 86_400}
    for first in range(0, spans, _BATCH):
        query = _FILL
        given = {**values, "first": first, "count": min(_BATCH, spans - first)}
        for name, value in given.items():
            query = query.replace(f"{{{name}:UInt64}}", str(value))
        store.command(query)


def median_s(once: Callable[[], object]) -> float:
    """The median of some repetitions, after one to warm up."""
    once()
    taken: list[float] = []
    for _ in range(TIMES):
        began = time.perf_counter()
        once()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def measure(store: Store) -> dict[str, float]:
    """Bare look-up and timeline, of the same operation."""
    [(trace, operation)] = store.rows(_ONE)
    now = datetime.now(UTC)
    question = Question(UUID(str(operation)), (trace,), now - timedelta(days=DAYS + 1), now)
    bare_s = median_s(lambda: store.rows(_BARE, {"trace": trace}))
    timeline_s = median_s(lambda: read_spans(store, question))
    return {"bare_ms": bare_s * 1e3, "timeline_ms": timeline_s * 1e3, "ratio": timeline_s / bare_s}


def main() -> int:
    """Fill, measure, print; 1 where the ratio is out of bounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spans", type=int, default=SPANS)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        acquire(Path(folder)) as engine,
        connect(engine.url, timeout_s=120) as store,
    ):
        ensure(store)
        fill(store, given.spans)
        told = {"spans": float(given.spans), **measure(store)}
    if given.json:
        sys.stdout.write(json.dumps(told) + "\n")
    else:
        for name, value in told.items():
            sys.stdout.write(f"{name:<12} {value:,.1f}\n")
    return 0 if told["ratio"] <= RATIO_MOST else 1


if __name__ == "__main__":
    sys.exit(main())

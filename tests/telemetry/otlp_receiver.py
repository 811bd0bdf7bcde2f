"""A real OTLP receiver that is not ours, with a ClickHouse exporter: Rotel, from its wheel.

https://github.com/streamfold/rotel
"""

import importlib.util
import socket
import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from opentelemetry.sdk.trace.export import SpanExporter

from telemetry.clickhouse.client import Store
from telemetry.otlp import CollectorLogs, collector_spans
from tests.telemetry.story import Story

_WITHIN_S: Final = 30.0
_POLL_S: Final = 0.05
_COUNT: Final = "SELECT (SELECT count() FROM otel_traces) + (SELECT count() FROM otel_logs)"


@contextmanager
def otlp_receiver(clickhouse_url: str) -> Generator[str]:
    """Run it before this database; yields its HTTP address."""
    spec = importlib.util.find_spec("rotel")
    assert spec is not None, "pip install rotel==0.0.1a15"
    assert spec.origin is not None
    address = urlsplit(clickhouse_url)
    grpc, http = _free(), _free()
    argv = [
        str(Path(spec.origin).parent / "rotel-agent"),
        "start",
        *("--otlp-grpc-endpoint", f"127.0.0.1:{grpc}"),
        *("--otlp-http-endpoint", f"127.0.0.1:{http}"),
        *("--exporter", "clickhouse"),
        *("--clickhouse-exporter-endpoint", f"http://{address.netloc}"),
        *("--clickhouse-exporter-database", address.path.strip("/")),
    ]
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            _wait(lambda: _listens(http))
            yield f"http://127.0.0.1:{http}"
        finally:
            process.terminate()


def send(story: Story, url: str, store: Store) -> None:
    """Send spans and records as a process would, and wait until they are stored."""
    exporter: SpanExporter = collector_spans(url, {}, 5)
    exporter.export(story.spans)
    exporter.shutdown()
    CollectorLogs(url, {}, 5).insert_records(story.records)
    wanted = len(story.spans) + len(story.records)
    _wait(lambda: int(store.rows(_COUNT)[0][0]) >= wanted)


def _wait(ready: Callable[[], bool]) -> None:
    end = time.monotonic() + _WITHIN_S
    while not ready():
        assert time.monotonic() < end, "the receiver did not come to it"
        time.sleep(_POLL_S)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _free() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port

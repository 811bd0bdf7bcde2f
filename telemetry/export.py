"""Providers of our own, and what they export to. Nothing global: a host's own tracing is its own.

Spans are batched and leave from threads of their own, each back end behind its own queue, so that
one that is away, slow or hanging costs the dispatch nothing and the others nothing. A full queue
drops spans; started records wait in the spool, ledger facts in the outbox.
"""

import os
import platform
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from dispatcher import trace_names as names
from dispatcher.tracing import OFF, Figures, Started, Tracing
from telemetry.clickhouse.client import connect
from telemetry.clickhouse.writer import ClickHouse, ClickHouseExporter
from telemetry.names import RESOURCE, SERVICE
from telemetry.otlp import CollectorLogs, collector_metrics, collector_spans, langfuse_spans
from telemetry.scrub import scrub_attributes
from telemetry.scrubbed import Scrubbed, for_langfuse
from telemetry.settings import TelemetrySettings
from telemetry.ship import RecordSink, Shipper
from telemetry.spool import Spool
from telemetry.timeline import nanoseconds

BATCH_DELAY_MS: Final = 1_000
QUEUE_SPANS: Final = 2_048
BATCH_SPANS: Final = 512
CLOSE_S: Final = 3.0
"""How long an ending process waits for its last spans to leave."""
_METRICS_EVERY_MS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Telemetry:
    """The telemetry of one process."""

    tracing: Tracing
    """What dispatcher and recovery are given."""
    clickhouse: ClickHouse | None
    """Where ledger facts go, too."""
    shipper: Shipper
    figures: InMemoryMetricReader | None
    """The counters, for `/metrics`."""
    flush: Callable[[], object]
    """Send ended spans now; blocks for as long as the back ends' time limits."""
    _close: Callable[[], None]

    def close(self, *, within_s: float = CLOSE_S) -> None:
        """Send what is left, for at most `within_s` seconds; what the spool holds stays there."""
        # A thread that ends with the process: a hanging back end must not hold up its end.
        closing = threading.Thread(target=self._close, name="telemetry-close", daemon=True)
        closing.start()
        closing.join(within_s)


def open_telemetry(
    settings: TelemetrySettings, *, home: Path, clickhouse_url: str | None, instance: str
) -> Telemetry:
    """Set up what the settings ask for. Connects to nothing: that happens when spans leave.

    Args:
        settings: Where to.
        home: The state folder; the spool is in `spool/` below it.
        clickhouse_url: The server that is set, or the embedded one; `None` where there is none.
        instance: Which process this is, e.g. the worker's name.
    """
    if not settings.telemetry:
        return Telemetry(OFF, None, Shipper(Spool(home / "spool"), {}), None, _nothing, _nothing)
    timeout_s = settings.telemetry_timeout_s
    resource = Resource.create(
        {
            "service.name": SERVICE,
            "service.instance.id": instance,
            "process.pid": os.getpid(),
            "host.name": platform.node(),
        }
    )
    spool = Spool(home / "spool")
    clickhouse = (
        None
        if clickhouse_url is None
        else ClickHouse(lambda: connect(clickhouse_url, timeout_s=timeout_s))
    )
    tracers = TracerProvider(sampler=ALWAYS_ON, resource=resource, shutdown_on_exit=False)
    for exporter in _exporters(settings, clickhouse):
        tracers.add_span_processor(
            BatchSpanProcessor(
                exporter,
                max_queue_size=QUEUE_SPANS,
                schedule_delay_millis=BATCH_DELAY_MS,
                max_export_batch_size=BATCH_SPANS,
            )
        )
    figures = InMemoryMetricReader()
    meters = MeterProvider(
        [figures, *_metric_readers(settings)], resource=resource, shutdown_on_exit=False
    )

    def close() -> None:
        spool.close()
        tracers.shutdown()
        meters.shutdown()
        if clickhouse is not None:
            clickhouse.close()

    return Telemetry(
        Tracing(
            tracers.get_tracer(names.SCOPE),
            Figures(meters.get_meter(names.SCOPE)),
            keep_in(spool, resource.attributes),
        ),
        clickhouse,
        Shipper(spool, _record_sinks(settings, clickhouse)),
        figures,
        tracers.force_flush,
        close,
    )


def keep_in(spool: Spool, resource: Mapping[str, Any]) -> Callable[[Started], None]:
    """How started records come to be in the spool."""
    about = {key: value for key, value in scrub_attributes(resource).items() if key in RESOURCE}

    def note(started: Started) -> None:
        spool.append(
            {
                "event": names.ATTEMPT_STARTED,
                "at_ns": nanoseconds(started.at),
                "trace_id": started.trace_id,
                "span_id": started.span_id,
                "attributes": scrub_attributes(started.attributes),
                "resource": about,
            }
        )

    return note


def _exporters(settings: TelemetrySettings, clickhouse: ClickHouse | None) -> list[SpanExporter]:
    exporters: list[SpanExporter] = []
    timeout_s = settings.telemetry_timeout_s
    if settings.otlp_url is not None:
        exporters.append(
            Scrubbed(collector_spans(settings.otlp_url, _headers(settings), timeout_s))
        )
    elif clickhouse is not None:
        # A collector writes the same tables: one of the two, or every span is there twice.
        exporters.append(Scrubbed(ClickHouseExporter(clickhouse)))
    if settings.langfuse_url and settings.langfuse_public_key and settings.langfuse_secret_key:
        langfuse = langfuse_spans(
            settings.langfuse_url,
            settings.langfuse_public_key,
            settings.langfuse_secret_key.get_secret_value(),
            timeout_s,
        )
        exporters.append(Scrubbed(langfuse, then=for_langfuse))
    return exporters


def _record_sinks(
    settings: TelemetrySettings, clickhouse: ClickHouse | None
) -> dict[str, RecordSink]:
    if settings.otlp_url is not None:
        timeout_s = settings.telemetry_timeout_s
        return {"the collector": CollectorLogs(settings.otlp_url, _headers(settings), timeout_s)}
    return {} if clickhouse is None else {"ClickHouse": clickhouse}


def _metric_readers(settings: TelemetrySettings) -> list[PeriodicExportingMetricReader]:
    if settings.otlp_url is None:
        return []
    timeout_s = settings.telemetry_timeout_s
    exporter = collector_metrics(settings.otlp_url, _headers(settings), timeout_s)
    return [
        PeriodicExportingMetricReader(
            exporter,
            export_interval_millis=_METRICS_EVERY_MS,
            export_timeout_millis=timeout_s * 1_000,
        )
    ]


def _headers(settings: TelemetrySettings) -> dict[str, str]:
    key = settings.otlp_authorization
    return {} if key is None else {"authorization": key.get_secret_value()}


def _nothing() -> None:
    """Nothing was opened."""

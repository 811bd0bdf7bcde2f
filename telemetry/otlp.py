"""OTLP over HTTP: to a collector, and to Langfuse, which takes spans only.

https://opentelemetry.io/docs/specs/otlp/#otlphttp
https://langfuse.com/integrations/native/opentelemetry
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any, Final

import httpx
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

from telemetry.errors import CollectorUnreachable
from telemetry.names import SERVICE
from telemetry.spool import Record

LANGFUSE_PATH: Final = "/api/public/otel/v1/traces"
_LANGFUSE_INGESTION: Final = {"x-langfuse-ingestion-version": "4"}
"""Without it a server of version 3 shows spans ten minutes late; above 4 it answers 400."""


def collector_spans(url: str, headers: Mapping[str, str], timeout_s: float) -> OTLPSpanExporter:
    """Spans to a collector."""
    return OTLPSpanExporter(
        endpoint=f"{url.rstrip('/')}/v1/traces",
        headers=dict(headers),
        timeout=timeout_s,
        compression=Compression.Gzip,
    )


def collector_metrics(url: str, headers: Mapping[str, str], timeout_s: float) -> OTLPMetricExporter:
    """Figures to a collector."""
    return OTLPMetricExporter(
        endpoint=f"{url.rstrip('/')}/v1/metrics",
        headers=dict(headers),
        timeout=timeout_s,
        compression=Compression.Gzip,
    )


def langfuse_spans(url: str, public: str, secret: str, timeout_s: float) -> OTLPSpanExporter:
    """Spans to Langfuse.

    Not through its SDK's processor: its filter passes only what looks like a call of a model.
    """
    token = b64encode(f"{public}:{secret}".encode()).decode()
    return OTLPSpanExporter(
        endpoint=url.rstrip("/") + LANGFUSE_PATH,
        headers={"Authorization": f"Basic {token}", **_LANGFUSE_INGESTION},
        timeout=timeout_s,
        compression=Compression.Gzip,  # the only one that Langfuse decodes
    )


class CollectorLogs:
    """Started records to a collector, as OTLP in JSON."""

    def __init__(self, url: str, headers: Mapping[str, str], timeout_s: float) -> None:
        self._url = f"{url.rstrip('/')}/v1/logs"
        self._headers = dict(headers)
        self._timeout_s = timeout_s

    def insert_records(self, records: Sequence[Record]) -> None:
        """Send records.

        Raises:
            CollectorUnreachable: No answer, or a refusal: they are sent again later.
        """
        if not records:
            return
        try:
            answer = httpx.post(
                self._url,
                json=logs_request(records),
                headers=self._headers,
                timeout=self._timeout_s,
            )
            answer.raise_for_status()
        except httpx.HTTPError as error:
            raise CollectorUnreachable(f"the collector: {type(error).__name__}") from error


def logs_request(records: Sequence[Record]) -> dict[str, Any]:
    """The body of `POST /v1/logs`. All records are of one process: they share a resource."""
    return {
        "resourceLogs": [
            {
                "resource": {"attributes": _attributes(records[0].get("resource") or {})},
                "scopeLogs": [
                    {"scope": {"name": SERVICE}, "logRecords": [_record(r) for r in records]}
                ],
            }
        ]
    }


def _record(record: Record) -> dict[str, Any]:
    return {
        "timeUnixNano": str(record["at_ns"]),
        "observedTimeUnixNano": str(record["at_ns"]),
        "severityNumber": 9,
        "severityText": "INFO",
        "eventName": record["event"],
        "body": {"stringValue": record["event"]},
        "attributes": _attributes(record["attributes"]),
        "flags": 1,
        "traceId": record["trace_id"],
        "spanId": record["span_id"],
    }


def _attributes(values: Mapping[str, object]) -> list[dict[str, Any]]:
    return [
        {
            "key": key,
            "value": {"intValue": str(value)}
            if isinstance(value, int)
            else {"stringValue": str(value)},
        }
        for key, value in values.items()
    ]

"""Back ends on this machine: they store, refuse, hang, dawdle or lie.

The Langfuse of these tests is a recorded contract: where spans are posted, with which headers, and
what version 2 of its API answers. It is not Langfuse.
https://langfuse.com/integrations/native/opentelemetry
https://api.reference.langfuse.com/#tag/observations
"""

import base64
import gzip
import json
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.message import Message
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from telemetry.otlp import LANGFUSE_PATH

PUBLIC: Final = "pk-lf-planted-public"
SECRET: Final = "sk-lf-planted-secret"


TRACE_ID_BYTES: Final = 16
SPAN_ID_BYTES: Final = 8
SPAN_BYTES_MOST: Final = 9_500_000
PAGE_MOST: Final = 1_000
_FIELDS: Final = frozenset(
    {"core", "basic", "time", "io", "metadata", "model", "usage", "prompt", "metrics"}
    | {"trace_context"}
)
_PARAMETERS: Final = frozenset(
    {"fields", "expandMetadata", "limit", "cursor", "traceId", "filter", "fromStartTime"}
    | {"toStartTime", "type", "name", "level", "environment"}
)


class Mood(StrEnum):
    """How a back end behaves."""

    WELL = "well"
    REFUSES = "refuses"
    HANGS = "hangs"
    LIES = "lies"
    """Answers 200, and stores nothing."""


class Receiver(ThreadingHTTPServer):
    """A collector and a Langfuse in one."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, mood: Mood) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.mood = mood
        self.bodies: list[tuple[str, bytes]] = []
        """Path and body, unzipped, of every POST."""
        self.observations: list[dict[str, Any]] = []
        self.ended = threading.Event()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def store(self, path: str, body: bytes) -> None:
        """Keep what was posted."""
        self.bodies.append((path, body))
        if path == LANGFUSE_PATH:
            self.observations += _observations(body)


@contextmanager
def receiver(mood: Mood = Mood.WELL) -> Generator[Receiver]:
    """Run a back end."""
    server = Receiver(mood)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def _back(self) -> Receiver:
        assert isinstance(self.server, Receiver)
        return self.server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base class's name
        """Say nothing."""

    def do_POST(self) -> None:
        """Take telemetry."""
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        path = urlsplit(self.path).path
        match self._back.mood:
            case Mood.HANGS:
                self._back.ended.wait()
                self.close_connection = True
            case Mood.REFUSES:
                self._answer(503, {})
            case Mood.LIES:
                self._answer(200, {})
            case Mood.WELL:
                self._take(path, body)

    def _take(self, path: str, body: bytes) -> None:
        if not path.startswith("/api/public/"):  # the collector takes what comes
            self._back.store(path, body)
            self._answer(200, {})
            return
        if not self._signed_in():
            self._answer(401, {"message": "Invalid credentials"})
            return
        if path != LANGFUSE_PATH:
            self._answer(404, {"message": "not found"})
            return
        problem = refusal(self.headers, body)
        if problem is not None:
            self._answer(400, {"message": problem})
            return
        self._back.store(path, body)
        self._answer(200, {})

    def do_GET(self) -> None:
        """Answer a look-up of observations."""
        if self._back.mood is Mood.HANGS:
            self._back.ended.wait()
            self.close_connection = True
            return
        if self._back.mood is Mood.REFUSES:
            self._answer(503, {})
            return
        if not self._signed_in():
            self._answer(401, {"message": "Invalid credentials"})
            return
        address = urlsplit(self.path)
        if address.path != "/api/public/v2/observations":
            self._answer(404, {"message": "gone in version 4"})
            return
        asked = {key: values[0] for key, values in parse_qs(address.query).items()}
        problem = wrong_question(asked)
        if problem is not None:
            self._answer(400, {"message": problem})
            return
        self._answer(200, _page(self._back.observations, asked))

    def _signed_in(self) -> bool:
        token = base64.b64encode(f"{PUBLIC}:{SECRET}".encode()).decode()
        return self.headers.get("authorization") == f"Basic {token}"

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        told = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)


def refusal(headers: Message, body: bytes) -> str | None:
    """Why Langfuse would not take a batch of spans; one bad span refuses all of it."""
    if headers.get("x-langfuse-ingestion-version") != "4":
        return "this contract is about version 4"
    if headers.get("content-encoding", "identity") not in {"gzip", "identity"}:
        return "gzip only"
    if headers.get("content-type") != "application/x-protobuf":
        return "protobuf only in this contract"
    request = ExportTraceServiceRequest()
    try:
        request.ParseFromString(body)
    except Exception:  # noqa: BLE001  protobuf's own error comes without types
        return "no batch of spans"
    spans = [span for r in request.resource_spans for s in r.scope_spans for span in s.spans]
    if not spans:
        return "no spans: records and figures have no place here"
    return next((told for span in spans if (told := _bad_span(span)) is not None), None)


def _bad_span(span: Any) -> str | None:
    if len(span.trace_id) != TRACE_ID_BYTES or not any(span.trace_id):
        return "malformed trace id"
    if len(span.span_id) != SPAN_ID_BYTES or not any(span.span_id):
        return "malformed span id"
    if span.parent_span_id and len(span.parent_span_id) != SPAN_ID_BYTES:
        return "malformed parent id"
    if not 0 < span.start_time_unix_nano <= span.end_time_unix_nano:
        return "a span must end, and not before it began"
    if span.ByteSize() > SPAN_BYTES_MOST:
        return "span too large"
    return None


def wrong_question(asked: Mapping[str, str]) -> str | None:
    """Why Langfuse would not answer a look-up of observations."""
    unknown = set(asked) - _PARAMETERS
    if unknown:
        return f"unknown parameters {sorted(unknown)}"
    if set(asked.get("fields", "core").split(",")) - _FIELDS:
        return "unknown field group"
    if not 1 <= int(asked.get("limit", "50")) <= PAGE_MOST:
        return "limit out of range"
    for condition in json.loads(asked.get("filter", "[]")):
        if set(condition) != {"type", "column", "key", "operator", "value"}:
            return "a condition on metadata has five parts"
        if (condition["type"], condition["column"]) != ("stringObject", "metadata"):
            return "this contract is about conditions on metadata"
    return None


def _page(stored: list[dict[str, Any]], asked: dict[str, str]) -> dict[str, Any]:
    """Filter, then one page: the filter takes the place of the other parameters."""
    found = stored
    if "filter" in asked:
        [condition] = json.loads(asked["filter"])
        key, value = condition["key"], condition["value"]
        found = [one for one in stored if one["metadata"].get(key) == value]
    elif "traceId" in asked:
        found = [one for one in stored if one["traceId"] == asked["traceId"]]
    start, limit = int(asked.get("cursor") or 0), int(asked.get("limit", 50))
    more = start + limit < len(found)
    meta = {"cursor": str(start + limit)} if more else {}
    return {"data": found[start : start + limit], "meta": meta}


def _observations(body: bytes) -> list[dict[str, Any]]:
    request = ExportTraceServiceRequest()
    request.ParseFromString(body)
    return [
        _observation(span)
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def _observation(span: Any) -> dict[str, Any]:
    prefix = "langfuse.observation.metadata."
    attributes = {a.key: a.value.string_value or str(a.value.int_value) for a in span.attributes}
    return {
        "id": span.span_id.hex(),
        "traceId": span.trace_id.hex(),
        "startTime": _time(span.start_time_unix_nano),
        "endTime": _time(span.end_time_unix_nano),
        "projectId": "project",
        "parentObservationId": span.parent_span_id.hex() or None,
        "type": "SPAN",
        "name": span.name,
        "level": "ERROR" if span.status.code == 2 else "DEFAULT",
        "statusMessage": span.status.message or None,
        "metadata": {
            key.removeprefix(prefix): value
            for key, value in attributes.items()
            if key.startswith(prefix)
        },
    }


def _time(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).isoformat()

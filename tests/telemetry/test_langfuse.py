"""Langfuse: our spans arrive, are found again, and a dead, hanging or lying one is noticed."""

from base64 import b64encode
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from langfuse.span_filter import is_default_export_span
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span
from pydantic import SecretStr

from dispatcher import trace_names as names
from ledger.ids import new_id
from telemetry.clickhouse.reader import Question
from telemetry.errors import LangfuseUnreachable
from telemetry.export import Telemetry, open_telemetry
from telemetry.langfuse import Langfuse
from telemetry.otlp import LANGFUSE_PATH
from telemetry.settings import TelemetrySettings
from tests.telemetry.receivers import PUBLIC, SECRET, Mood, receiver
from tests.telemetry.story import Recorder


def opened(url: str, home: Path) -> Telemetry:
    """Telemetry that goes to this Langfuse."""
    settings = TelemetrySettings(
        langfuse_url=url, langfuse_public_key=PUBLIC, langfuse_secret_key=SecretStr(SECRET)
    )
    return open_telemetry(settings, home=home, clickhouse_url=None, instance="w")


def asking(url: str) -> Langfuse:
    """The reading side of it."""
    return Langfuse(url, PUBLIC, SECRET, timeout_s=1)


async def test_our_spans_arrive_and_are_found_by_operation(tmp_path: Path) -> None:
    """Its SDK's default filter would have dropped them; links are found as an attribute."""
    operation_id = new_id()
    with receiver() as server:
        telemetry = opened(server.url, tmp_path)
        attributes: dict[str, str | int] = {
            names.OPERATION_ID: str(operation_id),
            names.ATTEMPT_NUMBER: 2,
        }
        for _ in range(3):
            with telemetry.tracing.tracer.start_as_current_span(
                names.DISPATCH, attributes=attributes
            ):
                pass
        telemetry.close()
        now = datetime.now(UTC)
        question = Question(operation_id, (), now - timedelta(hours=1), now)
        found = await asking(server.url).read(question)
        assert [entry.attempt for entry in found.entries] == [2, 2, 2]
        assert not found.cut
        assert (await asking(server.url).read(question, most=2)).cut


@pytest.mark.parametrize("mood", [Mood.REFUSES, Mood.HANGS])
async def test_a_server_that_does_not_answer_is_an_error_in_time(mood: Mood) -> None:
    """Dead or hanging: within the time limit, and as one error."""
    now = datetime.now(UTC)
    with receiver(mood) as server, pytest.raises(LangfuseUnreachable):
        await asking(server.url).read(Question(new_id(), (), now, now))


async def test_wrong_keys_are_an_error() -> None:
    """Not an empty answer."""
    now = datetime.now(UTC)
    with receiver() as server:
        stranger = Langfuse(server.url, PUBLIC, "sk-lf-other", timeout_s=1)
        with pytest.raises(LangfuseUnreachable):
            await stranger.read(Question(new_id(), (), now, now))


def posted(url: str, body: bytes, **headers: str) -> int:
    """The status that a batch is answered with; `headers` replace ours."""
    token = b64encode(f"{PUBLIC}:{SECRET}".encode()).decode()
    ours = {
        "authorization": f"Basic {token}",
        "x-langfuse-ingestion-version": "4",
        "content-type": "application/x-protobuf",
    }
    given = {**ours, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return httpx.post(url + LANGFUSE_PATH, content=body, headers=given, trust_env=False).status_code


def batch(*spans: Span) -> bytes:
    """A batch of spans."""
    scope = ScopeSpans(spans=spans)
    request = ExportTraceServiceRequest(resource_spans=[ResourceSpans(scope_spans=[scope])])
    return bytes(request.SerializeToString())


def span(**other: Any) -> Span:
    """A span that is as it must be."""
    given: dict[str, Any] = {
        "trace_id": b"\1" * 16,
        "span_id": b"\2" * 8,
        "name": "operation.dispatch",
        "start_time_unix_nano": 1,
        "end_time_unix_nano": 2,
    }
    return Span(**{**given, **other})


def test_the_contract_refuses_what_langfuse_refuses() -> None:
    """Credentials, version, encoding, and a whole batch for one malformed span in it."""
    with receiver() as server:
        assert posted(server.url, batch(span())) == 200
        assert posted(server.url, batch(span()), authorization="Bearer x") == 401
        assert posted(server.url, batch(span()), x_langfuse_ingestion_version="5") == 400
        assert posted(server.url, batch(span()), content_type="application/json") == 400
        assert posted(server.url, batch(span()), content_encoding="zstd") == 400
        for wrong in (
            {"trace_id": b"\0" * 16},
            {"trace_id": b"\1" * 8},
            {"span_id": b""},
            {"parent_span_id": b"\1"},
            {"end_time_unix_nano": 0},
        ):
            assert posted(server.url, batch(span(), span(**wrong))) == 400, wrong
        assert posted(server.url, b"") == 400
        assert posted(server.url, b"\xff") == 400
        assert len(server.observations) == 1


def test_its_sdks_own_filter_would_drop_our_spans(tmp_path: Path) -> None:
    """Which is why they do not go through it."""
    story = Recorder(tmp_path)
    with story.tracing.tracer.start_as_current_span(names.DISPATCH):
        pass
    [ours] = story.spans()
    assert not is_default_export_span(ours)


async def test_a_question_that_langfuse_would_refuse_is_not_what_we_ask() -> None:
    """The contract answers only parameters that the API knows; ours are answered."""
    now = datetime.now(UTC)
    token = b64encode(f"{PUBLIC}:{SECRET}".encode()).decode()
    headers = {"authorization": f"Basic {token}"}
    with receiver() as server:
        found = await asking(server.url).read(Question(new_id(), ("a" * 32,), now, now))
        assert found.entries == []
        async with httpx.AsyncClient(headers=headers, trust_env=False) as http:
            for path, status in (
                ("/api/public/v2/observations?limit=1001", 400),
                ("/api/public/v2/observations?fields=everything", 400),
                ("/api/public/v2/observations?trace=x", 400),
                ("/api/public/traces", 404),
                ("/api/public/observations", 404),
            ):
                assert (await http.get(server.url + path)).status_code == status, path

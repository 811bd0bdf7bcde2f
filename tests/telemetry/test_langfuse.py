"""Langfuse: our spans arrive, are found again, and a dead, hanging or lying one is noticed."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from dispatcher import trace_names as names
from ledger.ids import new_id
from telemetry.clickhouse.reader import Question
from telemetry.errors import LangfuseUnreachable
from telemetry.export import Telemetry, open_telemetry
from telemetry.langfuse import Langfuse
from telemetry.settings import TelemetrySettings
from tests.telemetry.receivers import PUBLIC, SECRET, Mood, receiver


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

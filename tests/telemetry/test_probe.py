"""Whether spans really arrive is known by reading them back."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from ledger.postgres.ledger import Ledger
from telemetry import probe as probing
from telemetry.probe import Arrival, probe
from telemetry.settings import TelemetrySettings
from telemetry.watch import open_watch
from tests.telemetry.receivers import PUBLIC, SECRET, Mood, receiver


async def probed(ledger: Ledger, home: Path, clickhouse_url: str, mood: Mood) -> list[Arrival]:
    """Probe a trace store and a Langfuse of this mood."""
    with receiver(mood) as server:
        settings = TelemetrySettings(
            clickhouse_url=SecretStr(clickhouse_url),
            langfuse_url=server.url,
            langfuse_public_key=PUBLIC,
            langfuse_secret_key=SecretStr(SECRET),
        )
        async with open_watch(settings, ledger, home=home, instance="w", embedded=False) as watch:
            return await probe(watch)


async def test_a_span_that_arrived_is_seen(
    ledger: Ledger, tmp_path: Path, clickhouse_url: str
) -> None:
    """In both places."""
    arrivals = await probed(ledger, tmp_path, clickhouse_url, Mood.WELL)
    assert {one.place: one.arrived for one in arrivals} == {"ClickHouse": True, "Langfuse": True}


@pytest.mark.parametrize("mood", [Mood.LIES, Mood.REFUSES, Mood.HANGS])
async def test_a_200_that_was_not_stored_is_noticed(
    ledger: Ledger,
    tmp_path: Path,
    clickhouse_url: str,
    monkeypatch: pytest.MonkeyPatch,
    mood: Mood,
) -> None:
    """So is a Langfuse that is away or hangs; ClickHouse is judged by itself."""
    monkeypatch.setattr(probing, "LANGFUSE_S", 0.3)
    arrivals = await probed(ledger, tmp_path, clickhouse_url, mood)
    assert {one.place: one.arrived for one in arrivals} == {"ClickHouse": True, "Langfuse": False}

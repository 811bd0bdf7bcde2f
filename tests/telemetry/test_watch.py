"""The telemetry of a process as the wiring opens it: emitted, shipped, shown, counted."""

from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest

from dispatcher import trace_names as names
from telemetry.errors import BadTelemetrySettings
from telemetry.metrics import exposition
from telemetry.settings import TelemetrySettings, load_telemetry
from telemetry.timeline import Source
from telemetry.watch import open_watch
from tests.support.postgres import new_home
from tests.support.world import FakeWorld, fake_world
from tests.telemetry.story import asked, traced


@pytest.fixture
def home() -> Iterator[Path]:
    """A state folder."""
    with new_home() as folder:
        yield folder


@pytest.fixture
async def world(ledger_dsn: str) -> AsyncGenerator[FakeWorld]:
    """A world with a provider in process."""
    async with fake_world(ledger_dsn) as made:
        yield made


async def test_one_send_is_found_again_from_every_source(world: FakeWorld, home: Path) -> None:
    """Nothing set: the embedded trace store of the state folder has spans, records and facts."""
    settings = TelemetrySettings()
    async with open_watch(settings, world.ledger, home=home, instance="w", embedded=True) as watch:
        operation = await asked(world, watch.tracing)
        await (await traced(world, watch.tracing)).step()
        await watch.work()
        text = exposition(await watch.figures())
        assert "outlive_facts_waiting 0.0" in text
        assert "outlive_attempts_total{" in text
    async with open_watch(
        settings, world.ledger, home=home, instance="reader", embedded=True
    ) as watch:
        timeline = await watch.evidence.evidence(operation.id)
    spans = {entry.name for entry in timeline.entries if entry.source is Source.TRACES}
    assert spans == {names.PROPOSE, names.TAKE_UP, names.EXECUTE, names.DISPATCH}
    assert any(entry.source is Source.LOGS for entry in timeline.entries)
    assert [gap.source for gap in timeline.gaps] == [Source.LANGFUSE]
    dispatch = next(entry for entry in timeline.entries if entry.name == names.DISPATCH)
    [attempt] = (await world.read(operation)).attempts
    assert (attempt.trace_id, attempt.span_id) == (dispatch.trace_id, dispatch.span_id)


async def test_switched_off_nothing_is_kept(world: FakeWorld, home: Path) -> None:
    """No ids on the attempt, no spool, and the evidence says that there is none."""
    settings = TelemetrySettings(telemetry=False)
    async with open_watch(settings, world.ledger, home=home, instance="w", embedded=True) as watch:
        operation = await asked(world, watch.tracing)
        await (await traced(world, watch.tracing)).step()
        await watch.work()
        timeline = await watch.evidence.evidence(operation.id)
    assert not (home / "spool").exists()
    [attempt] = (await world.read(operation)).attempts
    assert (attempt.trace_id, attempt.span_id) == (None, None)
    assert "no_telemetry" in {gap.code for gap in timeline.gaps}


def test_half_a_langfuse_is_refused_without_its_secret() -> None:
    """The message names what belongs together, and no value."""
    with pytest.raises(BadTelemetrySettings, match="LANGFUSE_PUBLIC_KEY") as refused:
        load_telemetry(langfuse_secret_key="sk-lf-planted")
    assert "planted" not in str(refused.value)

"""Evidence beside an open question: gathered afterwards, kept, and asked for again."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from ledger.ids import new_id
from ledger.model import Operation
from ledger.postgres.answers import Given
from sidecar.worker.evidence_pass import AFTER_S, AGAIN_S, EvidencePass
from telemetry.clickhouse.client import connect
from telemetry.evidence import Evidence
from telemetry.kept import MOST, keep, kept
from telemetry.timeline import Entry, Source, Timeline
from tests.support.fake_provider import Plan
from tests.support.world import HOUR, SETTLED, FakeWorld, fake_world
from tests.telemetry.schemas import fill
from tests.telemetry.story import Recorder, Story, asked, traced


@pytest.fixture
async def world(ledger_dsn: str) -> AsyncGenerator[FakeWorld]:
    """A world with a provider in process."""
    async with fake_world(ledger_dsn) as made:
        yield made


async def in_question(world: FakeWorld, folder: Path) -> Story:
    """A mail sent by a worker that died: nobody can look it up, so a person is asked."""
    dead, alive = Recorder(folder / "dead"), Recorder(folder / "alive")
    operation = await asked(world, dead.tracing, kind="fake.mail")
    world.provider.plan("ch_1", Plan(held=asyncio.Event()))
    first = await traced(world, dead.tracing, "first")
    await first.begin()
    await world.provider.arrived.wait()
    records = dead.records()
    await first.die()
    await world.later(world.timing.heartbeat_ttl_s + SETTLED)
    await world.live(SETTLED, await traced(world, alive.tracing, "second"))
    found = await world.read(operation)
    assert found.escalated
    return Story(found, alive.spans(), records)


async def evidence_of(world: FakeWorld, operation: Operation) -> Timeline | None:
    """What is kept beside its question."""
    stored = (await world.question(operation)).evidence
    return None if stored is None else kept(stored)


def a_pass(world: FakeWorld, url: str, *, after_s: float = AFTER_S) -> EvidencePass:
    """The periodic work, with this trace store."""
    evidence = Evidence(world.ledger, connect=lambda: connect(url, timeout_s=1), langfuse=None)
    return EvidencePass(world.ledger.escalations, evidence, after_s=after_s)


async def test_a_question_gets_its_evidence_once_it_can_have_arrived(
    world: FakeWorld, tmp_path: Path, clickhouse_url: str
) -> None:
    """Not at once; then spans, records and holes, and nothing that the ledger holds itself."""
    story = await in_question(world, tmp_path)
    fill(story, clickhouse_url)
    gathering = a_pass(world, clickhouse_url, after_s=HOUR)
    assert await gathering.run() == 0
    await world.later(HOUR)
    assert await gathering.run() == 1
    found = await evidence_of(world, story.operation)
    assert found is not None
    assert {entry.source for entry in found.entries} == {Source.TRACES, Source.LOGS}
    assert "process_lost" in {gap.code for gap in found.gaps}
    assert await gathering.run() == 0


async def test_a_store_that_was_away_is_asked_again(
    world: FakeWorld, tmp_path: Path, clickhouse_url: str
) -> None:
    """What could be had is kept meanwhile, with the gap; later the rest comes."""
    story = await in_question(world, tmp_path)
    fill(story, clickhouse_url)
    await world.later(AFTER_S)
    away = a_pass(world, "http://127.0.0.1:9/default")
    assert await away.run() == 1
    found = await evidence_of(world, story.operation)
    assert found is not None
    assert "no_answer" in {gap.code for gap in found.gaps}
    assert await away.run() == 0
    await world.later(AGAIN_S)
    assert await a_pass(world, clickhouse_url).run() == 1
    found = await evidence_of(world, story.operation)
    assert found is not None
    assert "no_answer" not in {gap.code for gap in found.gaps}


async def test_an_answered_question_stays_as_it_was_answered(
    world: FakeWorld, tmp_path: Path
) -> None:
    """Evidence that comes after the answer is not put beside it."""
    story = await in_question(world, tmp_path)
    question = await world.question(story.operation)
    escalations = world.ledger.escalations
    await world.ledger.answers.close(Given(question.id, by="person:amaia", verdict="seen", note=""))
    await escalations.attach(question.id, keep(Timeline(story.operation.id, (), ())))
    assert (await escalations.get(question.id)).evidence is None


def test_what_is_kept_is_bounded_and_reads_back_as_it_was() -> None:
    """The latest entries from outside, whose number is said; the ledger's own are left out."""
    outside = [Entry(at_ns, Source.TRACES, "span", span_id=str(at_ns)) for at_ns in range(MOST + 1)]
    ours = Entry(MOST + 2, Source.LEDGER, "sent", details={"reason": "private"})
    timeline = Timeline(new_id(), (*outside, ours), ())
    found = kept(keep(timeline))
    assert found.entries == tuple(outside[1:])
    assert [gap.code for gap in found.gaps] == ["cut"]

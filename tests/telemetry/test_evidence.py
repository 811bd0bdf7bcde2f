"""Evidence: everything that is known on one timeline, with its gaps named, whatever is away."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dispatcher import trace_names as names
from ledger.errors import UnknownOperation
from ledger.ids import new_id
from ledger.model import Answer, Outcome
from ledger.postgres.connect import Database
from ledger.postgres.ledger import Ledger
from telemetry.clickhouse.client import Store, connect
from telemetry.clickhouse.writer import ClickHouse
from telemetry.evidence import Evidence
from telemetry.outbox import Outbox
from telemetry.timeline import Found, Source, Timeline, merge
from telemetry.tree import render
from tests.support.world import FakeWorld, fake_world
from tests.telemetry.schemas import fill, fill_through_otlp
from tests.telemetry.story import AGENT_TRACE, Recorder, Story, asked, crash, traced
from tests.telemetry.variants import VARIANTS, make


@pytest.fixture
async def world(ledger_dsn: str) -> AsyncGenerator[FakeWorld]:
    """A world with a provider in process."""
    async with fake_world(ledger_dsn) as made:
        yield made


@pytest.fixture
async def story(world: FakeWorld, tmp_path: Path) -> Story:
    """A crash and its recovery."""
    return await crash(world, tmp_path)


@pytest.fixture
def store(clickhouse_url: str) -> Iterator[Store]:
    """To look into the trace store."""
    with connect(clickhouse_url) as opened:
        yield opened


def gathered(world: FakeWorld, url: str) -> Evidence:
    """Evidence from the ledger and this trace store."""
    return Evidence(world.ledger, connect=lambda: connect(url), langfuse=None)


def codes(timeline: Timeline) -> set[tuple[str, int | None]]:
    """The gaps, but for Langfuse's."""
    return {(gap.code, gap.attempt) for gap in timeline.gaps if gap.source is not Source.LANGFUSE}


async def test_what_the_same_trace_tells_of_other_operations_is_left_out(
    world: FakeWorld, clickhouse_url: str, tmp_path: Path
) -> None:
    """A batch is asked for in one trace; each operation's timeline is its own."""
    recorder = Recorder(tmp_path)
    one = await asked(world, recorder.tracing)
    other = await asked(world, recorder.tracing, on="ch_2")
    await (await traced(world, recorder.tracing)).step()
    fill(Story(one, recorder.spans(), recorder.records()), clickhouse_url)
    for operation in (one, other):
        timeline = await gathered(world, clickhouse_url).evidence(operation.id)
        named = [entry.name for entry in timeline.entries if entry.source is Source.TRACES]
        assert set(named) == {names.PROPOSE, names.TAKE_UP, names.EXECUTE, names.DISPATCH}
        assert named.count(names.DISPATCH) == 1
        assert [entry.source for entry in timeline.entries].count(Source.LOGS) == 1
        assert codes(timeline) == set()


async def test_the_hole_of_a_killed_process_is_named(
    world: FakeWorld, story: Story, clickhouse_url: str
) -> None:
    """The agent's trace, the started record, the hole, the recovery linked to it, the decision."""
    fill(story, clickhouse_url)
    timeline = await gathered(world, clickhouse_url).evidence(story.operation.id)
    assert codes(timeline) == {("no_outcome", 1), ("process_lost", 1)}
    assert "no span for attempt 1: the process was lost" in render(timeline)
    [started] = [entry for entry in timeline.entries if entry.source is Source.LOGS]
    attempt = story.operation.attempts[0]
    assert (started.trace_id, started.span_id) == (AGENT_TRACE, attempt.span_id)
    spans = {entry.name: entry for entry in timeline.entries if entry.source is Source.TRACES}
    assert spans[names.PROPOSE].trace_id == AGENT_TRACE
    recovered = spans[names.RECOVER]
    assert recovered.trace_id != AGENT_TRACE
    assert recovered.details["links to"] == f"{AGENT_TRACE}/{attempt.span_id}"
    assert recovered.details["original_trace_id"] == AGENT_TRACE
    assert recovered.details["recovery.decision"] == story.operation.decision


@pytest.mark.parametrize("name", list(VARIANTS))
async def test_every_shape_gives_the_same_timeline(
    world: FakeWorld, story: Story, clickhouse_url: str, tmp_path: Path, name: str
) -> None:
    """The tables of the collector and of ClickStack, old and new, are read alike."""
    del tmp_path
    make(clickhouse_url, name)
    fill(story, clickhouse_url)
    timeline = await gathered(world, clickhouse_url).evidence(story.operation.id)
    spans = [entry for entry in timeline.entries if entry.source is Source.TRACES]
    assert len(spans) == len(story.spans)
    assert len([e for e in timeline.entries if e.source is Source.LOGS]) == 1
    assert codes(timeline) == {("no_outcome", 1), ("process_lost", 1)}


async def test_what_a_foreign_receiver_wrote_is_read_alike(
    world: FakeWorld, story: Story, clickhouse_url: str
) -> None:
    """Spans and records over OTLP, through a receiver that is not ours."""
    make(clickhouse_url, "collector")
    await asyncio.to_thread(fill_through_otlp, story, clickhouse_url)
    timeline = await gathered(world, clickhouse_url).evidence(story.operation.id)
    spans = [entry for entry in timeline.entries if entry.source is Source.TRACES]
    assert len(spans) == len(story.spans)
    assert codes(timeline) == {("no_outcome", 1), ("process_lost", 1)}


async def test_json_attributes_are_refused_clearly(
    world: FakeWorld, story: Story, clickhouse_url: str
) -> None:
    """The gap says what to set; the ledger's own history is shown all the same."""
    make(clickhouse_url, "json")
    timeline = await gathered(world, clickhouse_url).evidence(story.operation.id)
    [gap] = [gap for gap in timeline.gaps if gap.source is Source.TRACES]
    assert gap.code == "unsupported_schema"
    assert "json: false" in gap.text
    assert any(entry.source is Source.LEDGER for entry in timeline.entries)


async def test_what_was_delivered_twice_counts_once(
    world: FakeWorld, story: Story, clickhouse_url: str
) -> None:
    """At least once is once on the timeline."""
    fill(story, clickhouse_url)
    once = await gathered(world, clickhouse_url).evidence(story.operation.id)
    fill(story, clickhouse_url)
    twice = await gathered(world, clickhouse_url).evidence(story.operation.id)
    assert twice.entries == once.entries


async def test_without_a_trace_store_the_record_is_shown(world: FakeWorld, story: Story) -> None:
    """Nothing installed, nothing set up: the gaps say what to do."""
    timeline = await Evidence(world.ledger, connect=None, langfuse=None).evidence(
        story.operation.id
    )
    assert {gap.code for gap in timeline.gaps} == {"not_configured", "no_outcome"}
    assert {entry.source for entry in timeline.entries} == {Source.LEDGER, Source.ATTEMPTS}


async def test_a_hanging_trace_store_takes_only_its_deadline(
    world: FakeWorld, story: Story
) -> None:
    """It takes the connection and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        evidence = Evidence(
            world.ledger,
            connect=lambda: connect(f"http://127.0.0.1:{port}/default", timeout_s=1),
            langfuse=None,
        )
        began = asyncio.get_running_loop().time()
        timeline = await evidence.evidence(story.operation.id, within_s=1)
    assert asyncio.get_running_loop().time() - began < 5
    without = {gap.source for gap in timeline.gaps if gap.code == "no_answer"}
    assert without == {Source.TRACES, Source.LOGS}


async def test_without_the_ledger_the_copy_of_its_history_is_shown(
    world: FakeWorld, story: Story, clickhouse_url: str
) -> None:
    """PostgreSQL is away: facts, spans and records are found by the operation's id alone."""
    fill(story, clickhouse_url)
    writer = ClickHouse(lambda: connect(clickhouse_url))
    await Outbox(world.ledger, writer, story.operation.id).ship()
    writer.close()
    away = Ledger(Database("postgresql://nobody@127.0.0.1:1/none", connect_s=1))
    evidence = Evidence(away, connect=lambda: connect(clickhouse_url), langfuse=None)
    timeline = await evidence.evidence(story.operation.id, within_s=4)
    assert any(gap.text == "the ledger did not answer" for gap in timeline.gaps)
    sources = {entry.source for entry in timeline.entries}
    assert sources == {Source.LEDGER, Source.TRACES, Source.LOGS}


async def test_an_unknown_operation_is_an_error(world: FakeWorld) -> None:
    """Not an empty timeline."""
    with pytest.raises(UnknownOperation):
        await Evidence(world.ledger, connect=None, langfuse=None).evidence(new_id())


async def test_a_span_that_is_only_late_is_not_called_lost(story: Story) -> None:
    """An answered attempt's process was not lost, whatever became of its span."""
    answered = replace(story.operation.attempts[0], answer=Answer(Outcome.ACCEPTED))
    timeline = merge(story.operation.id, [answered], [Found(Source.TRACES)])
    assert [gap.code for gap in timeline.gaps] == ["no_span"]


async def test_texts_from_traces_cannot_steer_a_terminal(story: Story) -> None:
    """Control characters become visible."""
    timeline = merge(story.operation.id, story.operation.attempts, [])
    foreign = replace(timeline.entries[0], name="\x1b]0;owned\x07")
    assert "\x1b" not in render(replace(timeline, entries=(foreign,)))

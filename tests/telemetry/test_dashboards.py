"""Dashboards: each query runs against rows that the product itself wrote, in every shape."""

import json
import re
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from sidecar.proposals.policy_file import PolicyFile
from sidecar.proposals.proposing import Proposer, Wanted
from sidecar.registry import Types
from telemetry.clickhouse.client import Row, connect
from telemetry.clickhouse.writer import ClickHouse
from telemetry.dashboards.load import PLACE, write
from telemetry.dashboards.panels import PANELS, Panel
from telemetry.outbox import Outbox
from tests.support.bureau import Bureau, Worded, bureau
from tests.support.fake_provider import KEYED, NEVER_ARRIVED
from tests.support.world import SETTLED, FakeWorld, fake_world
from tests.telemetry.day import copied, item, lived
from tests.telemetry.story import AGENT_TRACE, Recorder, asked, crash, traced
from tests.telemetry.variants import VARIANTS, make

__all__ = ["bureau"]


@pytest.fixture
async def world(ledger_dsn: str) -> AsyncGenerator[FakeWorld]:
    """A world with a provider in process."""
    async with fake_world(ledger_dsn) as made:
        yield made


async def filled(world: FakeWorld, url: str, folder: Path) -> None:
    """A crash and its recovery, a lost request and its resend, a question, one on its way."""
    story = await crash(world, folder)
    process = Recorder(folder / "more")
    hands = await traced(world, process.tracing, "third")
    world.provider.plan("ch_2", NEVER_ARRIVED)
    world.provider.plan("ch_3", NEVER_ARRIVED)
    await asked(world, process.tracing, on="ch_2")
    await asked(world, process.tracing, kind="fake.mail", on="ch_3")
    await world.live(3 * SETTLED, hands)
    world.provider.plan("ch_4", NEVER_ARRIVED)
    await asked(world, process.tracing, on="ch_4")
    await hands.step()
    writer = ClickHouse(lambda: connect(url))
    writer.insert_spans([*story.spans, *process.spans()])
    writer.insert_records([*story.records, *process.records()])
    writer.close()
    await copied(world, url)


async def decided(world: FakeWorld, url: str) -> None:
    """Somebody asked, and somebody said no, in the same ledger."""
    types = Types([Worded("fake.refund", KEYED, world.provider)])
    proposer = Proposer(world.ledger, types, PolicyFile(None), lease_s=90)
    made = await proposer.propose(Wanted("fake.refund", [item(99)], "agent:a", "k"))
    asked = await world.ledger.proposals.get(made.proposal_id)
    await world.ledger.proposals.reject(
        asked.id, version=1, digest=asked.digest, by="person:amaia", reason="no"
    )
    await copied(world, url)


def panel_of(query: str) -> Panel:
    """The panel of a query."""
    [panel] = [panel for panel in PANELS if panel.query == query]
    return panel


def answers(url: str, panel: Panel, *, hours: float = 3) -> Sequence[Row]:
    """What a panel shows of the last and the next hours."""
    now, around = datetime.now(UTC), timedelta(hours=hours)
    values = {"from": now - around, "to": now + around, "step": 60}
    with connect(url) as store:
        return store.rows(panel.sql(), values)


@pytest.mark.parametrize("variant", list(VARIANTS))
async def test_every_panel_shows_something_in_every_shape(
    world: FakeWorld, clickhouse_url: str, tmp_path: Path, variant: str
) -> None:
    """Rows written by the product, in the tables of collector and ClickStack."""
    make(clickhouse_url, variant)
    await filled(world, clickhouse_url, tmp_path)
    await decided(world, clickhouse_url)
    empty = [panel.query for panel in PANELS if not answers(clickhouse_url, panel)]
    assert empty == []


async def test_approvals_show_what_waits_how_long_people_took_and_what_lapsed(
    bureau: Bureau, clickhouse_url: str
) -> None:
    """By type: one waits, three were decided, one of four lapsed."""
    await lived(bureau)
    await copied(bureau, clickhouse_url)
    by_type = {row[0]: row for row in answers(clickhouse_url, panel_of("approvals"), hours=96)}
    _, waiting, oldest, decided, p50_s, p95_s, expired, share = by_type["fake.refund"]
    assert (waiting, decided, expired, share) == (1, 3, 1, 0.25)
    assert oldest is not None
    assert 0 <= p50_s <= p95_s
    assert answers(clickhouse_url, panel_of("approvals_over_time"), hours=96) != []
    [(reason, questions, still_open, _)] = answers(
        clickhouse_url, panel_of("escalations"), hours=96
    )
    assert (reason, questions, still_open) == ("NO_PROOF", 1, 1)


async def test_what_moved_on_is_copied_once_more_and_counts_once(
    bureau: Bureau, clickhouse_url: str
) -> None:
    """A proposal that waited is shown as decided; asking again copies nothing."""
    asked = await bureau.propose([item(1, 5_000)])
    writer = ClickHouse(lambda: connect(clickhouse_url))
    outbox = Outbox(bureau.ledger, writer, uuid4())
    assert [await outbox.ship_matters() for _ in range(2)] == [1, 0]
    await bureau.later(600)
    await bureau.approve(asked.proposal_id)
    await bureau.propose([item(2, 5_000)], key="k2")
    assert [await outbox.ship_matters() for _ in range(2)] == [2, 0]
    with connect(clickhouse_url) as store:
        rows = store.rows("SELECT ended, amount_minor, currency FROM outlive_matters_once")
    assert sorted(tuple(row) for row in rows) == [("", 5_000, "eur"), ("approved", 5_000, "eur")]
    stranger = Outbox(bureau.ledger, writer, uuid4())
    await bureau.propose([item(3, 5_000)], key="k3")
    assert await stranger.ship_matters() == 0
    writer.close()


async def test_one_query_tells_the_story_of_the_killed_process(
    world: FakeWorld, clickhouse_url: str, tmp_path: Path
) -> None:
    """The agent's trace, the hole, the recovery's trace, the decision, the record."""
    await filled(world, clickhouse_url, tmp_path)
    stories = answers(clickhouse_url, panel_of("one_story"))
    [killed] = [row for row in stories if row[7] and row[10] == "confirmed"]
    _, kind, agent, trace, spans, attempt, _, lost, recovery, decision, record = killed
    assert (kind, agent, trace, attempt) == ("fake.keyed", "agent:tests", AGENT_TRACE, 1)
    assert spans > 0
    assert lost
    assert recovery not in {"", AGENT_TRACE}
    assert (decision, record) == ("CONFIRMED", "confirmed")


def test_the_files_are_those_of_the_panels(tmp_path: Path) -> None:
    """Who changes a query writes the files anew: `python -m telemetry.dashboards.load write …`."""
    write(tmp_path)
    for name in ("grafana", "clickstack"):
        assert (tmp_path / f"{name}.json").read_text() == (PLACE / f"{name}.json").read_text()


def test_no_parameter_of_ours_is_left_in_the_files() -> None:
    """They know macros, not our parameters."""
    for name in ("grafana", "clickstack"):
        text = (PLACE / f"{name}.json").read_text()
        assert json.loads(text)
        assert not re.search(r"\{(from|to|step):", text)

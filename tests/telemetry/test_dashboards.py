"""Dashboards: each query runs against rows that the product itself wrote, in every shape."""

import json
import re
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from telemetry.clickhouse.client import Row, connect
from telemetry.clickhouse.writer import ClickHouse
from telemetry.dashboards.load import PLACE, write
from telemetry.dashboards.panels import PANELS, Panel
from telemetry.outbox import Outbox
from tests.support.fake_provider import NEVER_ARRIVED
from tests.support.world import SETTLED, FakeWorld, fake_world
from tests.telemetry.story import AGENT_TRACE, Recorder, asked, crash, traced
from tests.telemetry.variants import VARIANTS, make


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
    outbox = Outbox(world.ledger, writer, uuid4())
    while await outbox.ship():
        pass
    writer.close()


def answers(url: str, panel: Panel) -> Sequence[Row]:
    """What a panel shows of the last and the next hours."""
    now = datetime.now(UTC)
    values = {"from": now - timedelta(hours=3), "to": now + timedelta(hours=3), "step": 60}
    with connect(url) as store:
        return store.rows(panel.sql(), values)


@pytest.mark.parametrize("variant", list(VARIANTS))
async def test_every_panel_shows_something_in_every_shape(
    world: FakeWorld, clickhouse_url: str, tmp_path: Path, variant: str
) -> None:
    """Rows written by the product, in the tables of collector and ClickStack."""
    make(clickhouse_url, variant)
    await filled(world, clickhouse_url, tmp_path)
    empty = [panel.query for panel in PANELS if not answers(clickhouse_url, panel)]
    assert empty == []


async def test_one_query_tells_the_story_of_the_killed_process(
    world: FakeWorld, clickhouse_url: str, tmp_path: Path
) -> None:
    """The agent's trace, the hole, the recovery's trace, the decision, the record."""
    await filled(world, clickhouse_url, tmp_path)
    [panel] = [panel for panel in PANELS if panel.query == "one_story"]
    stories = answers(clickhouse_url, panel)
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

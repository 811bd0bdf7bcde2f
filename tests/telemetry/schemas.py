"""Every shape of trace tables, filled by our exporter and read by our reader: one timeline.

`python -m tests.telemetry.schemas [--json]`. Tables are made from column lists of the collector
and of ClickStack, on a real server.
"""

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ledger.postgres.embedded import acquire
from ledger.postgres.migrate import migrate
from telemetry.clickhouse.client import connect
from telemetry.clickhouse.embedded import acquire as acquire_clickhouse
from telemetry.clickhouse.variant import detect
from telemetry.clickhouse.writer import ClickHouse
from telemetry.errors import UnsupportedSchema
from telemetry.evidence import Evidence
from tests.support.postgres import FAST, binaries_under_test, named, new_database, new_home
from tests.support.world import FakeWorld, fake_world
from tests.telemetry.otlp_receiver import otlp_receiver, send
from tests.telemetry.report import Line, finish
from tests.telemetry.story import Story, crash
from tests.telemetry.variants import VARIANTS, make


def fill(story: Story, url: str) -> None:
    """Write with our own exporter."""
    writer = ClickHouse(lambda: connect(url))
    writer.insert_spans(story.spans)
    writer.insert_records(story.records)
    writer.close()


def fill_through_otlp(story: Story, url: str) -> None:
    """Write through a receiver that is not ours."""
    with otlp_receiver(url) as address, connect(url) as store:
        send(story, address, store)


async def timeline(world: FakeWorld, story: Story, url: str) -> dict[str, Any]:
    """Read what is there."""
    evidence = Evidence(world.ledger, connect=lambda: connect(url), langfuse=None)
    return (await evidence.evidence(story.operation.id)).as_json()


async def run(dsn: str, server: str, folder: Path) -> list[Line]:
    """Every shape against the first."""
    lines: list[Line] = []
    first: dict[str, Any] | None = None
    async with fake_world(dsn) as world:
        story = await crash(world, folder)
        for name, title in VARIANTS.items():
            url = _database(server, name)
            make(url, name)
            fill(story, url)
            seen = await timeline(world, story, url)
            first = first or seen
            with connect(url) as store:
                known = detect(store).name
            told = f"read as “{known}”: {len(seen['entries'])} entries, {len(seen['gaps'])} gaps"
            lines.append(Line(name, seen == first and known == title, told))
        url = _database(server, "through_otlp")
        make(url, "collector")
        await asyncio.to_thread(fill_through_otlp, story, url)
        seen = await timeline(world, story, url)
        told = f"{len(seen['entries'])} entries, {len(seen['gaps'])} gaps"
        lines.append(Line("through an OTLP receiver", seen == first, told))
    url = _database(server, "json")
    make(url, "json")
    with connect(url) as store:
        try:
            lines.append(Line("json", holds=False, told=detect(store).name))
        except UnsupportedSchema as error:
            lines.append(Line("json", holds=True, told=f"refused: {error}"))
    return lines


def _database(server: str, name: str) -> str:
    with connect(server) as store:
        store.command(f"CREATE DATABASE {name}")
    return urlsplit(server)._replace(path=f"/{name}").geturl()


def main() -> int:
    """Run all, print, and say whether all holds."""
    with (
        tempfile.TemporaryDirectory() as folder,
        new_home() as home,
        acquire(home, binaries=binaries_under_test(), settings=FAST) as engine,
        new_database(named(engine.server.dsn, "postgres")) as dsn,
        acquire_clickhouse(Path(folder)) as clickhouse,
    ):
        asyncio.run(migrate(dsn))
        lines = asyncio.run(run(dsn, clickhouse.url, Path(folder)))
    return finish("One reader, every shape of trace tables", lines)


if __name__ == "__main__":
    sys.exit(main())

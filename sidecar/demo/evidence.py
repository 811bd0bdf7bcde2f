"""What traces tell of the demo: one query ties agent, lost attempt and recovery together.

Only where the embedded ClickHouse is installed; the promise is judged without it.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from uuid import uuid4

from rich.console import Console

from sidecar import words
from sidecar.books import books
from sidecar.cli.base import table
from sidecar.plain import plain
from sidecar.settings import load
from telemetry.clickhouse.client import Row, connect
from telemetry.clickhouse.embedded import acquire
from telemetry.clickhouse.writer import ClickHouse
from telemetry.dashboards.panels import Panel
from telemetry.errors import ClickHouseMissing, ClickHouseUnreachable
from telemetry.outbox import Outbox

STORY: Final = Panel("one_story", "What the traces add, in one query")
_COPIED_S: Final = 10.0
"""How long the copy of the last events may take; what is missing then is not shown."""
_LOOK_S: Final = 0.2
_ID_SHOWN: Final = 23
_TRACE_SHOWN: Final = 8


@asynccontextmanager
async def trace_store(home: Path) -> AsyncGenerator[str | None]:
    """Run the trace store for as long as a block lasts; its address, if it is installed.

    The demo's processes use it as guests, so that it outlives the one that is killed.
    """
    try:
        engine = await asyncio.to_thread(acquire, home)
    except (ClickHouseMissing, ClickHouseUnreachable, OSError):
        yield None
        return
    try:
        yield engine.url
    finally:
        await asyncio.to_thread(engine.close)


async def one_story(home: Path, url: str | None) -> Sequence[Row]:
    """The attempts whose outcome nobody heard, as ledger and traces tell of them together."""
    if url is None:
        return []
    began = datetime.now(UTC) - timedelta(hours=1)

    def ask() -> Sequence[Row]:
        with connect(url) as store:
            return store.rows(STORY.sql(), {"from": began, "to": datetime.now(UTC)})

    try:
        await _copy(home, url)
        return await asyncio.to_thread(ask)
    except ClickHouseUnreachable:
        return []


async def _copy(home: Path, url: str) -> None:
    """Copy the last events, as any worker would."""
    writer = ClickHouse(lambda: connect(url))
    settings = load(home=home, database_url=None, pgbouncer=False)
    try:
        async with books(settings) as opened:
            outbox = Outbox(opened.ledger, writer, uuid4())
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_COPIED_S):
                    while (await outbox.lag()).waiting:
                        await outbox.ship()
                        await asyncio.sleep(_LOOK_S)
    finally:
        await asyncio.to_thread(writer.close)


def show(console: Console, rows: Sequence[Row]) -> None:
    """Print one line an operation."""
    if not rows:
        return
    lines = table("OPERATION", "ASKED BY", "IN TRACE", "ATTEMPT", "RECOVERED IN", "DECIDED", "NOW")
    lines.title = f"\n{STORY.title} (telemetry/dashboards/queries/{STORY.query}.sql)"
    for row in rows:
        operation, _, by, trace, _, attempt, _, lost, recovery, decision, record = row
        hole = "process lost" if lost else "nothing was heard"
        lines.add_row(
            str(operation)[:_ID_SHOWN],
            plain(by),
            words.code(trace[:_TRACE_SHOWN] or None),
            f"{attempt}: {hole}",
            words.code(recovery[:_TRACE_SHOWN] or None),
            words.code(decision or None),
            plain(record),
        )
    console.print(lines)

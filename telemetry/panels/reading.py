"""Read a dashboard: from ClickHouse within its time limit, else from PostgreSQL within the same.

The number of queries does not depend on what there is: to PostgreSQL two (the time, and how far
the copy is behind) and to ClickHouse two; where that fails, three more to PostgreSQL.
"""

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any, Final

import psycopg

from ledger.errors import OutliveError
from ledger.postgres.connect import Connection
from ledger.postgres.ledger import Ledger
from ledger.postgres.statements import sql
from telemetry.clickhouse.client import Store
from telemetry.errors import ClickHouseUnreachable
from telemetry.outbox import Outbox
from telemetry.panels.model import (
    Cell,
    Dashboard,
    Fallback,
    Panel,
    Range,
    Source,
    Window,
    assemble,
)

WITHIN_S: Final = 2.0
"""How long one source may take."""
MOST: Final = 20_000
"""Events, and matters of each kind, that PostgreSQL looks at."""
_NAMES: Final = ("history", "matters")
_FOLDER: Final = files("telemetry.panels")


class PanelsUnreachable(OutliveError):
    """No source answered in time. Nothing else is affected."""

    code = "panels_unreachable"

    def __init__(self) -> None:
        super().__init__(
            f"the numbers could not be had within {WITHIN_S:g} s; ask for a shorter range, or set "
            "OUTLIVE_CLICKHOUSE_URL"
        )


class Panels:
    """Reads dashboards."""

    def __init__(
        self, ledger: Ledger, connect: Callable[[], Store] | None, outbox: Outbox | None
    ) -> None:
        """Take the sources; `connect` opens ClickHouse, and `None` means that there is none."""
        self._ledger = ledger
        self._connect = connect
        self._outbox = outbox

    async def read(self, span: Range) -> Dashboard:
        """Every panel of a range.

        Raises:
            PanelsUnreachable: Neither source answered in time.
            DatabaseUnreachable: PostgreSQL does not answer at all.
        """
        now = await self._ledger.now()
        window = Window.of(span, now)
        fallback = Fallback.NONE_SET
        if self._connect is not None:
            try:
                panels, behind_s = await self._from_clickhouse(self._connect, window)
            except (ClickHouseUnreachable, TimeoutError):
                fallback = Fallback.UNREACHABLE
            else:
                return Dashboard(
                    *(span, window, Source.CLICKHOUSE, None, now, behind_s, False), panels
                )
        panels, cut = await self._from_postgresql(window)
        return Dashboard(*(span, window, Source.POSTGRESQL, fallback, now, 0.0, cut), panels)

    async def _from_clickhouse(
        self, connect: Callable[[], Store], window: Window
    ) -> tuple[tuple[Panel, ...], float]:
        values = {
            "ledger": str(self._ledger.identity.ledger_id),
            "since": window.since,
            "until": window.until,
            "step": int(window.step.total_seconds()),
        }
        async with asyncio.timeout(WITHIN_S):
            cells = await asyncio.to_thread(_clickhouse_cells, connect, values)
        lag = None if self._outbox is None else await self._outbox.lag()
        return assemble(cells, window), 0.0 if lag is None else lag.oldest_s

    async def _from_postgresql(self, window: Window) -> tuple[tuple[Panel, ...], bool]:
        values = {
            "since": window.since,
            "until": window.until,
            "step_s": window.step.total_seconds(),
            "most": MOST,
        }
        try:
            async with asyncio.timeout(WITHIN_S), self._ledger.pool.connection() as connection:
                rows = await _rows(connection, values)
        except TimeoutError as error:
            raise PanelsUnreachable from error
        cells = [
            Cell(row["panel"], row["name"], row["bucket"], float(row["value"]))
            for row in rows
            if row["panel"]
        ]
        cut = any(row["value"] for row in rows if not row["panel"])
        return assemble(cells, window), cut


async def _rows(connection: Connection, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    try:
        async with connection.transaction():
            await connection.execute(sql("panels_begin"), prepare=False)
            for name in _NAMES:
                cursor = await connection.execute(sql(f"panels_{name}"), values)
                rows += await cursor.fetchall()
    except psycopg.errors.QueryCanceled as error:
        raise PanelsUnreachable from error
    return rows


def _clickhouse_cells(connect: Callable[[], Store], values: Mapping[str, Any]) -> list[Cell]:
    with connect() as store:
        return [
            Cell(panel, name, _utc(at), float(value))
            for query in _NAMES
            for panel, name, at, value in store.rows(
                (_FOLDER / f"{query}.sql").read_text(encoding="utf-8"), values
            )
        ]


def _utc(at: datetime) -> datetime:
    return at.replace(tzinfo=UTC)

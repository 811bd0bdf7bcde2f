"""Hot statements at ten million operations, over the same at ten thousand.

Two ledgers on one server, with the same number of live rows; what differs is how many operations
are over. `OUTLIVE_BENCH_OPERATIONS` makes the large one smaller where disk or time is short; the
result names the size that was measured.
"""

import functools
import os
import statistics
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final
from uuid import uuid4

import psycopg
from psycopg.conninfo import make_conninfo

from bench.growing import grow
from bench.rounds import Case, Line, Options, Result, at_most, interleaved, run
from bench.server import server
from bench.way import Way
from ledger.model import State
from ledger.postgres.connect import Connection, Database
from ledger.postgres.ledger import Ledger
from ledger.postgres.migrate import migrate
from ledger.postgres.search import Search
from ledger.postgres.search_values import Filters
from ledger.postgres.statements import sql

SMALL: Final = 10_000
LARGE: Final = 10_000_000
QUICK: Final = 100_000
TIMES: Final = 15
"""Each figure is the median of so many."""
RATIO_MOST: Final = 1.2
_NOBODY: Final = uuid4()

STATEMENTS: Final[dict[str, dict[str, Any]]] = {
    "claim": {
        "owner": _NOBODY,
        "actor": "bench",
        "share": 16,
        "full": [],
        "lease_s": 90,
        "payload": "{}",
    },
    "closing_windows": {"type": "bench.instant", "window_s": 600, "within_s": 60},
    "bury": {
        "incarnation": _NOBODY,
        "ttl_s": 10,
        "identity": "bench",
        "host": "here",
        "actor": "bench",
        "payload": "{}",
    },
    "expire_proposals": {"limit": 50},
    "outbox_claim": {"kinds": ["webhook"], "limit": 50, "lease_s": 60},
    "outbox_standing": {"within_s": 86_400},
    "list_escalations": {"limit": 50},
    "list_awaiting": {"requested_by": None, "before": None, "limit": 51},
    "list_proposals": {"state": None, "requested_by": None, "before": None, "limit": 51},
}
"""What is measured, each in a transaction that is taken back: the next one finds the same."""

PAGES: Final = {
    "page of operations": Filters(),
    "page of those in doubt": Filters(in_doubt=True),
    "page of those confirmed": Filters(states=frozenset({State.CONFIRMED})),
}


class Grown:
    """One ledger of a size."""

    def __init__(self, connection: Connection, search: Search) -> None:
        self._connection = connection
        self._search = search

    async def statement_ms(self, name: str) -> float:
        """One statement, its commit left out."""
        text, values = sql(name), STATEMENTS[name]

        async def once() -> float:
            async with self._connection.transaction(force_rollback=True):
                began = time.perf_counter()
                await self._connection.execute(text, values, prepare=True)
                return time.perf_counter() - began

        return await _median_ms(once)

    async def page_ms(self, name: str) -> float:
        """The first page of a list."""

        async def once() -> float:
            began = time.perf_counter()
            await self._search.find_operations(PAGES[name], limit=50)
            return time.perf_counter() - began

        return await _median_ms(once)


async def _median_ms(once: Callable[[], Awaitable[float]]) -> float:
    return statistics.median([await once() for _ in range(TIMES)]) * 1e3


@asynccontextmanager
async def grown(dsn: str, operations: int) -> AsyncGenerator[Grown]:
    """A ledger of its own on the server, with so many operations."""
    name = f"grown_{operations}"
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        await connection.execute(f"CREATE DATABASE {name}".encode())
    there = make_conninfo(dsn, dbname=name)
    await migrate(there)
    database = Database(there)
    async with Ledger(database) as ledger:
        await Way(ledger).once()
    async with await database.open() as connection:
        await grow(connection, operations)
    async with await database.open() as connection, Search(database) as search:
        yield Grown(connection, search)


async def measure(options: Options) -> Result:
    """Both sizes by turns."""
    wanted = int(os.environ.get("OUTLIVE_BENCH_OPERATIONS", LARGE))
    many = QUICK if options.quick else wanted
    async with server() as dsn, grown(dsn, SMALL) as small, grown(dsn, many) as large:
        lines: list[Line] = []
        for name in STATEMENTS:
            lines += await _line(name, small.statement_ms, large.statement_ms, options)
        for name in PAGES:
            lines += await _line(name, small.page_ms, large.page_ms, options)
    return Result(
        name="growth",
        about=f"hot statements at {many:,} operations, over {SMALL:,}",
        lines=lines,
        notes=[f"{many:,} operations; an attempt, an event and a message for every tenth"],
    )


async def _line(
    name: str,
    small: Callable[[str], Awaitable[float]],
    large: Callable[[str], Awaitable[float]],
    options: Options,
) -> list[Line]:
    cases = [
        Case("small", functools.partial(small, name)),
        Case("large", functools.partial(large, name)),
    ]
    told = await interleaved(cases, options)
    return [
        Line(name.replace("_", " "), told.ratio("large", to="small"), aim=at_most(RATIO_MOST)),
        Line(f"{name.replace('_', ' ')}, large", told.figure("large"), "ms"),
    ]


if __name__ == "__main__":
    sys.exit(run(measure))

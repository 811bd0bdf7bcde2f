"""What the writer adds where nobody else writes: one operation at a time.

The same statements run directly on a private connection of the same kind, without queue and batch.
"""

import statistics
import time
from collections.abc import Sequence
from typing import Any

from bench.rounds import Case, Line, Options, at_most, interleaved
from bench.way import Way
from ledger.postgres.connect import Connection, Database
from ledger.postgres.ledger import Ledger
from ledger.postgres.writer import GroupWriter, Write


class Private(GroupWriter):
    """A writer that is none: each write runs at once on one connection."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._own = database
        self._connection: Connection | None = None

    def start(self) -> None:
        """Nothing runs beside the caller."""

    async def write(self, kind: Write[Any, Any], item: Any) -> Any:
        """Run one write by itself."""
        if self._connection is None:
            self._connection = await self._own.open(writer=True)
        results: Sequence[Any] = await kind.run(self._connection, [item])
        return results[0]

    async def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            await self._connection.close()


class Alone(Ledger):
    """A ledger that shares nothing with anybody."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._writer = Private(database)


async def median_ms(way: Way, times: int) -> float:
    """The median time of one operation, alone."""
    taken: list[float] = []
    for _ in range(times):
        began = time.perf_counter()
        await way.once()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken) * 1e3


async def alone(dsn: str, way: Way, options: Options) -> list[Line]:
    """p50 of a whole operation through the writer, over the same without it."""
    times = 50 if options.quick else 300
    async with Alone(Database(dsn)) as ledger:
        bare = Way(ledger)

        async def through_writer() -> float:
            return await median_ms(way, times)

        async def privately() -> float:
            return await median_ms(bare, times)

        cases = [Case("writer", through_writer), Case("private", privately)]
        told = await interleaved(cases, options)
    ratio = told.ratio("writer", to="private")
    return [
        Line("1 in flight, p50 over a private connection", ratio, aim=at_most(1.25)),
        Line("1 in flight, p50", told.figure("writer"), "ms"),
    ]

"""One read-only snapshot: whatever is read through it is of one moment, and agrees.

A `Snapshot` is a pool of a single connection, so the parts that read over a pool (`Proposals`,
`Escalations`, `Runs`, `Reading`) can be made over it and see the same moment.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from psycopg.rows import DictRow

from ledger.postgres.connect import Connection, Pool
from ledger.postgres.statements import sql


class Snapshot(Pool):
    """Reads of one moment. Not for several tasks at once: it is one connection."""

    def __init__(self, connection: Connection, at: datetime) -> None:
        # None of the pool's own parts: the connection is lent, and given back by who lent it.
        self._connection = connection
        self.at = at
        """The ledger's time of this moment."""
        self.queries: list[str] = []
        """Names of the statements that were run, in order: tests bound their number."""

    @asynccontextmanager
    async def connection(self) -> AsyncGenerator[Connection]:
        """Lend the one connection."""
        yield self._connection

    async def rows(self, name: str, **values: Any) -> list[DictRow]:
        """Run a named statement in the snapshot and return its rows."""
        self.queries.append(name)
        return await super().rows(name, **values)


@asynccontextmanager
async def snapshot(pool: Pool) -> AsyncGenerator[Snapshot]:
    """Take a snapshot; it must be let go within seconds, since the server cuts idle ones.

    Raises:
        DatabaseUnreachable: PostgreSQL did not answer.
    """
    async with pool.connection() as connection, connection.transaction():
        await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        cursor = await connection.execute(sql("now"))
        row = await cursor.fetchone()
        assert row is not None  # noqa: S101  a SELECT without FROM has one row
        yield Snapshot(connection, row["at"])

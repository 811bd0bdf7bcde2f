"""Races made certain: hold a row's lock, and wait until somebody waits for it.

PostgreSQL itself says who waits (`pg_stat_activity`), so that no test depends on luck.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from ledger.postgres.connect import Connection, Database

LOOK_AGAIN_S: Final = 0.002
GIVE_UP_S: Final = 15.0


async def until_waiting(watcher: Connection, pid: int) -> None:
    """Return when the server process `pid` waits for a lock."""
    await _until(watcher, "pid = %(pid)s", 1, pid)


async def until_so_many_wait(watcher: Connection, count: int) -> None:
    """Return when `count` sessions of this database wait for locks."""
    await _until(watcher, "datname = current_database()", count, 0)


async def _until(watcher: Connection, where: str, count: int, pid: int) -> None:
    statement = (
        "SELECT count(*) AS waiting FROM pg_stat_activity"  # noqa: S608  one of the two above
        f" WHERE wait_event_type = 'Lock' AND {where}"
    )
    async with asyncio.timeout(GIVE_UP_S):
        while True:
            cursor = await watcher.execute(statement.encode(), {"pid": pid})
            row = await cursor.fetchone()
            if row is not None and row["waiting"] >= count:
                return
            await asyncio.sleep(LOOK_AGAIN_S)


@dataclass(frozen=True, slots=True)
class Holder:
    """Somebody else's open transaction."""

    connection: Connection
    """Inside the transaction: what is run here becomes visible when it lets go."""
    watcher: Connection

    async def until_waiting(self, count: int = 1) -> None:
        """Return when `count` others wait."""
        await until_so_many_wait(self.watcher, count)


@asynccontextmanager
async def holding(dsn: str, *operation_ids: UUID) -> AsyncGenerator[Holder]:
    """Open a transaction that holds these rows; leaving the block commits it."""
    database = Database(dsn)
    async with (
        await database.open() as watcher,
        await database.open() as connection,
        connection.transaction(),
    ):
        if operation_ids:
            await connection.execute(
                "SELECT FROM operations WHERE id = ANY(%s) ORDER BY id FOR UPDATE",
                [list(operation_ids)],
            )
        yield Holder(connection, watcher)


@asynccontextmanager
async def commits_held(dsn: str) -> AsyncGenerator[Holder]:
    """Hold every commit that writes history at its last step; leaving the block lets them go.

    A deferred constraint runs inside COMMIT: the work is done, its locks are held, nobody sees it.
    """
    async with holding(dsn) as holder:
        for statement in _PAUSE:
            await holder.watcher.execute(statement)
        await holder.connection.execute("SELECT pg_advisory_xact_lock(4711)")
        yield holder


_PAUSE: Final = (
    b"""CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_advisory_xact_lock_shared(4711); RETURN NULL; END $$""",
    b"""CREATE CONSTRAINT TRIGGER pause AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION pause()""",
)

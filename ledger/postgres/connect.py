"""Connections: how each is opened, what the server must promise, what a failure means."""

import select
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from ledger.errors import DatabaseUnreachable, IllegalMove, SchemaMismatch, UnsafeDatabase
from ledger.postgres.statements import sql

Connection = psycopg.AsyncConnection[DictRow]

SCHEMA_VERSION: Final = 1
"""What this code reads. The database names the oldest reader that it still suits."""
NEEDED: Final = max(
    path.name[:4] for path in (Path(__file__).parent / "migrations" / "versions").glob("0*.py")
)
"""The migration that this code's statements rely on."""

_SESSION: Final = (
    # Nobody may hold a snapshot or a lock for long: one kept open for 8 s cuts claims to a sixth.
    "-c idle_in_transaction_session_timeout=5s -c statement_timeout=30s -c lock_timeout=10s "
    "-c timezone=UTC "
    # Rows are looked up by key, again and again by a plan that the connection keeps. Made over a
    # ledger that is still empty, it would read whole tables until the next ANALYZE.
    "-c enable_seqscan=off -c enable_mergejoin=off -c jit=off"
)
_WRITER_SESSION: Final = _SESSION + " -c plan_cache_mode=force_generic_plan"

LOST: Final = (psycopg.OperationalError, psycopg.errors.IdleInTransactionSessionTimeout)
"""The connection is gone. The second: this process stood still inside a transaction."""


@dataclass(frozen=True, slots=True)
class Database:
    """Where the ledger is, and how to talk to it."""

    dsn: str
    pool_size: int = 6
    writers: int = 2
    connect_s: int = 5
    unprepared: bool = False
    """Behind PgBouncer in transaction mode: no prepared statements, no session settings."""

    async def open(self, *, writer: bool = False) -> Connection:
        """Open one connection in autocommit mode.

        Raises:
            DatabaseUnreachable: Nobody answers, or the sign-in is refused.
        """
        try:
            return await psycopg.AsyncConnection[DictRow].connect(
                self.dsn, row_factory=dict_row, **self.arguments(writer=writer)
            )
        except psycopg.OperationalError as error:
            raise unreachable(error) from error

    def arguments(self, *, writer: bool = False) -> dict[str, Any]:
        """Keyword arguments of every connection."""
        given: dict[str, Any] = {
            "autocommit": True,
            "connect_timeout": self.connect_s,
            # A network that went silent is noticed within some ten seconds, not by the kernel's
            # own patience of minutes.
            "keepalives_idle": 5,
            "keepalives_interval": 2,
            "keepalives_count": 3,
            "tcp_user_timeout": 10_000,
            "application_name": "outlive writer" if writer else "outlive",
            "prepare_threshold": None if self.unprepared else (0 if writer else 5),
        }
        if not self.unprepared:
            given["options"] = _WRITER_SESSION if writer else _SESSION
        return given


class Pool:
    """A few connections for everything that the group-commit writer does not do."""

    def __init__(self, database: Database) -> None:
        self._pool = AsyncConnectionPool(
            database.dsn,
            connection_class=psycopg.AsyncConnection[DictRow],
            kwargs={"row_factory": dict_row, **database.arguments()},
            min_size=1,
            max_size=database.pool_size,
            timeout=database.connect_s,
            # Given up so early, whoever asks next begins anew. The pool's own pauses double with
            # the outage: after 40 s it came back 15 s late, and was taken for dead meanwhile.
            reconnect_timeout=database.connect_s,
            open=False,
            check=_still_there,
        )

    async def open(self) -> None:
        """Open the pool; connections come when they are needed."""
        await self._pool.open(wait=False)

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.close()

    @asynccontextmanager
    async def connection(self) -> AsyncGenerator[Connection]:
        """Lend a connection.

        Raises:
            DatabaseUnreachable: None could be had, or it was lost on the way.
            IllegalMove: The database refused a change that our statements never ask for.
        """
        try:
            async with self._pool.connection() as connection:
                yield connection
        except (PoolTimeout, *LOST) as error:
            raise unreachable(error) from error
        except psycopg.DatabaseError as error:
            raise refused(error) from error

    async def rows(self, name: str, **values: Any) -> list[DictRow]:
        """Run a named statement by itself and return its rows."""
        async with self.connection() as connection:
            cursor = await connection.execute(sql(name), values)
            return await cursor.fetchall() if cursor.description else []

    async def row(self, name: str, **values: Any) -> DictRow | None:
        """Run a named statement by itself and return its first row, if any."""
        rows = await self.rows(name, **values)
        return rows[0] if rows else None


async def _still_there(connection: Connection) -> None:
    """Find a connection that died while it was idle before somebody relies on it.

    One that the server has closed is readable. Asking the server each time would be a round trip
    more for every read, so it is asked only where there is something to be heard.
    """
    ears = select.poll()
    ears.register(connection.fileno(), select.POLLIN)
    if ears.poll(0):
        await connection.execute("")


def unreachable(error: Exception) -> DatabaseUnreachable:
    """Say that PostgreSQL did not answer, without repeating a password."""
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return DatabaseUnreachable(
        f"PostgreSQL did not answer ({reason}); what was acknowledged stands. "
        "Check that the server runs and that OUTLIVE_DATABASE_URL is right."
    )


def refused(error: psycopg.DatabaseError) -> Exception:
    """Turn the guards' own error codes into our error; leave the rest as it is.

    A server that takes no writes (a standby, or one with a full disk) has written nothing, and
    will take them again.
    """
    if isinstance(error, psycopg.errors.ReadOnlySqlTransaction):
        return unreachable(error)
    if error.sqlstate is not None and error.sqlstate.startswith("OL"):
        return IllegalMove(str(error).splitlines()[0])
    return error


async def check_server(connection: Connection) -> None:
    """Refuse a server that could lose what it acknowledged, or whose schema we can't read.

    Raises:
        UnsafeDatabase: `synchronous_commit` is off.
        SchemaMismatch: The schema is missing, older, or newer than this code.
    """
    cursor = await connection.execute("SHOW synchronous_commit")
    setting = await cursor.fetchone()
    if setting is not None and setting["synchronous_commit"] == "off":
        raise UnsafeDatabase(
            "synchronous_commit is off: an acknowledged row could be lost with the server. "
            "Set it to on (or remote_apply) for this database and start again."
        )
    cursor = await connection.execute("SELECT to_regclass('ledger_identity') AS found")
    found = await cursor.fetchone()
    if found is None or found["found"] is None:
        raise SchemaMismatch("this database holds no ledger yet; run `outlive migrate`")
    cursor = await connection.execute("SELECT version_num FROM alembic_version")
    reached = await cursor.fetchone()
    if reached is None or reached["version_num"] < NEEDED:
        raise SchemaMismatch(
            f"the database's schema is at {reached and reached['version_num']}, this code needs "
            f"{NEEDED}; run `outlive migrate`, then start the processes one by one"
        )
    cursor = await connection.execute("SELECT min_reader_version FROM ledger_identity")
    oldest = await cursor.fetchone()
    if oldest is not None and oldest["min_reader_version"] > SCHEMA_VERSION:
        raise SchemaMismatch(
            f"the database needs code that reads schema {oldest['min_reader_version']}, this one "
            f"reads {SCHEMA_VERSION}; upgrade outlive on this machine"
        )

"""The database that worlds share one after another: emptied between them, never made anew.

Making a database and its connections costs more than a whole world. Here the connection, with
all its prepared statements, is kept, and every table is emptied by a second one, whose triggers
are off.
"""

import asyncio
import contextlib
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

import psycopg
from psycopg import sql
from psycopg.rows import DictRow, dict_row

from ledger.postgres.clock import mark_test_database
from ledger.postgres.connect import Database
from ledger.postgres.embedded import acquire
from ledger.postgres.migrate import migrate
from tests.simulation.stage import EPOCH
from tests.support.postgres import FAST, binaries_under_test, named, new_database, new_home

VACUUM_EVERY: Final = 40
"""Worlds; what was deleted would slow down those that come after."""
_KEPT: Final = ("alembic_version", "ledger_identity", "test_clock", "moves", "fact_cursors")


@dataclass(slots=True)
class Server:
    """The two connections."""

    dsn: str
    db: psycopg.Connection[DictRow]
    admin: psycopg.Connection[DictRow]
    empty: sql.Composed
    worlds: int = 0
    constant: dict[str, list[DictRow]] = field(default_factory=dict[str, list[DictRow]])
    """What never changes, once asked."""

    def fresh(self, ledger_id: UUID) -> None:
        """Empty every table; the ledger has a new id."""
        self.worlds += 1
        if self.worlds % VACUUM_EVERY == 0:
            self.admin.execute("VACUUM")
        with self.admin.transaction():
            self.admin.execute(self.empty)
            self.admin.execute(
                "UPDATE ledger_identity SET ledger_id = %s, epoch = 1, high_water = %s",
                [ledger_id, EPOCH],
            )


@contextlib.contextmanager
def new_engine() -> Generator[str]:
    """An engine in memory; the address of its first database."""
    with (
        new_home() as home,
        acquire(home, binaries=binaries_under_test(), settings=FAST) as engine,
    ):
        yield named(engine.server.dsn, "postgres")


@contextlib.contextmanager
def server_at(admin_dsn: str) -> Generator[Server]:
    """The same on a server that runs already."""
    with new_database(admin_dsn) as dsn:
        asyncio.run(_prepare(dsn))
        with (
            psycopg.Connection[DictRow].connect(
                dsn,
                row_factory=dict_row,
                autocommit=True,
                prepare_threshold=0,
                options="-c timezone=UTC -c plan_cache_mode=force_generic_plan",
            ) as db,
            psycopg.Connection[DictRow].connect(
                dsn,
                row_factory=dict_row,
                autocommit=True,
                prepare_threshold=None,
                options="-c session_replication_role=replica",
            ) as admin,
        ):
            db.prepared_max = 500
            yield Server(dsn, db, admin, _emptying(admin))


async def _prepare(dsn: str) -> None:
    await migrate(dsn)
    async with await Database(dsn).open() as connection:
        await mark_test_database(connection)


def _emptying(admin: psycopg.Connection[DictRow]) -> sql.Composed:
    rows = admin.execute(
        "SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
        "   AND c.relname <> ALL(%s) ORDER BY 1",
        [list(_KEPT)],
    ).fetchall()
    return sql.SQL(";").join(
        sql.SQL("DELETE FROM {}").format(sql.Identifier(row["name"])) for row in rows
    )

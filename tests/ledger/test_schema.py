"""The schema: what migrations make, what the searches believe, what is refused at the door."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from psycopg import sql
from sqlalchemy import Connection, Engine, MetaData, create_engine, text
from sqlalchemy.dialects.postgresql.base import ischema_names

from ledger.errors import SchemaMismatch, UnsafeDatabase
from ledger.postgres.connect import Database
from ledger.postgres.ledger import Ledger
from ledger.postgres.migrate import migrate, sqlalchemy_url
from ledger.postgres.schema import operations
from ledger.postgres.schema_base import PgSnapshot, Xid8
from ledger.transitions import PAIRS


@contextmanager
def engine_at(dsn: str) -> Generator[Engine]:
    """An engine that leaves no connection behind."""
    engine = create_engine(sqlalchemy_url(dsn))
    try:
        yield engine
    finally:
        engine.dispose()


@pytest.fixture(autouse=True)
def _known_types(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have SQLAlchemy recognise PostgreSQL's own types when it reads a schema."""
    monkeypatch.setitem(ischema_names, "xid8", Xid8)
    monkeypatch.setitem(ischema_names, "pg_snapshot", PgSnapshot)


def differences(connection: Connection, described: MetaData) -> list[Any]:
    """What Alembic would change to make the database as described; partitions are left out."""
    parts = text("SELECT inhrelid::regclass::text FROM pg_inherits")
    left_out = {*connection.execute(parts).scalars(), "alembic_version"}

    def wanted(name: str | None, kind: str, _: Any) -> bool:
        return kind != "table" or name not in left_out

    options = {"compare_type": True, "include_name": wanted}
    return list(compare_metadata(MigrationContext.configure(connection, opts=options), described))


def test_the_description_is_what_the_migrations_make(ledger_dsn: str) -> None:
    """Tables, columns, types, nullability, indexes and unique constraints are the same."""
    with engine_at(ledger_dsn) as engine, engine.connect() as connection:
        assert differences(connection, operations.metadata) == []


@pytest.mark.parametrize(
    "drift",
    [
        "ALTER TABLE operations ADD COLUMN spare text",
        "ALTER TABLE events ALTER COLUMN seq TYPE integer",
        "ALTER TABLE escalations ALTER COLUMN dossier DROP NOT NULL",
        "DROP INDEX operations_due",
        "CREATE TABLE spare (id integer)",
    ],
)
def test_a_drift_would_be_noticed(ledger_dsn: str, drift: str) -> None:
    """A change on one side only makes a difference."""
    with engine_at(ledger_dsn) as engine, engine.connect() as connection:
        connection.execute(text(drift))
        assert differences(connection, operations.metadata)


async def test_migrating_again_changes_nothing(ledger_dsn: str) -> None:
    """A second run finds everything done; the ledger stays who it is."""
    with engine_at(ledger_dsn) as engine:
        identity = text("SELECT ledger_id, created_at FROM ledger_identity")
        with engine.connect() as connection:
            before = connection.execute(identity).one()
        await migrate(ledger_dsn)
        with engine.connect() as connection:
            assert connection.execute(identity).one() == before
            assert differences(connection, operations.metadata) == []


async def test_two_that_migrate_at_once_take_turns(empty_database: str) -> None:
    """Two processes start on an empty database; both end well, and it is migrated once."""
    await asyncio.gather(migrate(empty_database), migrate(empty_database))
    async with Ledger(Database(empty_database)) as ledger:
        assert ledger.identity.epoch == 1


def test_the_database_has_the_same_moves(ledger_dsn: str) -> None:
    """The trigger's table and the code's are one."""
    with psycopg.connect(ledger_dsn) as connection:
        moves = connection.execute("SELECT before, after FROM moves").fetchall()
    assert {(before, after) for before, after in moves} == {(b.value, a.value) for b, a in PAIRS}


async def test_an_empty_database_is_refused(empty_database: str) -> None:
    """It says what to do."""
    with pytest.raises(SchemaMismatch, match="outlive migrate"):
        await Ledger(Database(empty_database)).__aenter__()


async def test_a_schema_that_is_older_than_the_code_is_refused(empty_database: str) -> None:
    """Its statements would fail in the middle of something, one after the other."""
    await migrate(empty_database, to="0008")
    with pytest.raises(SchemaMismatch, match=r"at 0008, .* run `outlive migrate`"):
        await Ledger(Database(empty_database)).__aenter__()


async def test_a_schema_that_needs_newer_code_is_refused(ledger_dsn: str) -> None:
    """An old process does not write what it does not understand."""
    with psycopg.connect(ledger_dsn) as connection:
        connection.execute("UPDATE ledger_identity SET min_reader_version = 1000")
    with pytest.raises(SchemaMismatch, match="upgrade outlive"):
        await Ledger(Database(ledger_dsn)).__aenter__()


async def test_a_server_that_may_lose_commits_is_refused(ledger_dsn: str) -> None:
    """With synchronous_commit off, an acknowledged row could vanish."""
    with psycopg.connect(ledger_dsn, autocommit=True) as connection:
        connection.execute(
            sql.SQL("ALTER DATABASE {} SET synchronous_commit = off").format(
                sql.Identifier(connection.info.dbname)
            )
        )
    with pytest.raises(UnsafeDatabase, match="synchronous_commit"):
        await Ledger(Database(ledger_dsn)).__aenter__()

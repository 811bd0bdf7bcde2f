"""A real PostgreSQL server for the test-suite, and fresh databases on it.

`OUTLIVE_TEST_PG_BIN` names another folder of programs, such as `/usr/lib/postgresql/15/bin`,
to run the same tests against that version.
"""

import asyncio
import contextlib
import importlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql

from ledger.postgres.embedded import acquire

MEMORY: Final = Path("/dev/shm")  # noqa: S108  a file system in memory, not a guessable file
MEMORY_FREE_MIN_BYTES: Final = 1024**3

FAST: Final = {
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum_naptime": "1h",
    "max_connections": "300",
}
"""What a server that nobody will miss can do without; `synchronous_commit` stays as it is."""


def binaries_under_test() -> Path | None:
    """The folder of programs that the tests are asked to use, or `None` for the wheel's."""
    folder = os.environ.get("OUTLIVE_TEST_PG_BIN")
    return Path(folder) if folder else None


@contextlib.contextmanager
def new_home(*, fast: bool = True) -> Generator[Path]:
    """A state folder that any account can reach, gone afterwards.

    Args:
        fast: In memory if there is room. Making a database writes a thousand small files:
            measured, 10 ms in memory and up to 400 ms on disk, even without fsync.
    """
    roomy = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > MEMORY_FREE_MIN_BYTES
    folder = Path(tempfile.mkdtemp(prefix="outlive-", dir=MEMORY if fast and roomy else None))
    folder.chmod(0o711)
    try:
        yield folder / "home"
    finally:
        shutil.rmtree(folder)


def named(dsn: str, database: str) -> str:
    """The address of another database on the same server."""
    return urlsplit(dsn)._replace(path=f"/{database}").geturl()


@contextlib.contextmanager
def new_database(admin_dsn: str, *, template: str = "template1") -> Generator[str]:
    """Make a database with a name of its own and drop it afterwards, whoever is connected.

    FILE_COPY took half the time of WAL_LOG (10 against 17 ms, PostgreSQL 18 in memory).
    """
    name = f"test_{secrets.token_hex(6)}"
    with psycopg.connect(admin_dsn, autocommit=True) as admin:
        admin.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY").format(
                sql.Identifier(name), sql.Identifier(template)
            )
        )
    try:
        yield named(admin_dsn, name)
    finally:
        with psycopg.connect(admin_dsn, autocommit=True) as admin:
            admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="session")
def pg_server() -> Iterator[str]:
    """Address of the superuser's own database on the shared server."""
    with new_home() as home, acquire(home, binaries=binaries_under_test(), settings=FAST) as engine:
        yield named(engine.server.dsn, "postgres")


@pytest.fixture
def empty_database(pg_server: str) -> Iterator[str]:
    """Address of a new, empty database."""
    with new_database(pg_server) as dsn:
        yield dsn


@pytest.fixture(scope="session")
def template_database(pg_server: str) -> Iterator[str]:
    """Name of a migrated database that others are copied from; nobody connects to it."""
    migrate = importlib.import_module("ledger.postgres.migrate").migrate
    with new_database(pg_server) as dsn:
        # In a thread of its own: the test's event loop is none of its business.
        with ThreadPoolExecutor(1) as pool:
            pool.submit(asyncio.run, migrate(dsn)).result()
        yield urlsplit(dsn).path.removeprefix("/")


@pytest.fixture
def ledger_dsn(pg_server: str, template_database: str) -> Iterator[str]:
    """Address of a new database with the ledger's schema and nothing in it."""
    with new_database(pg_server, template=template_database) as dsn:
        yield dsn

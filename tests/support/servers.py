"""A server and databases for scripts that print a table, without pytest."""

import asyncio
import contextlib
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor

from ledger.postgres.embedded import acquire
from ledger.postgres.migrate import migrate
from tests.support.postgres import FAST, binaries_under_test, named, new_database, new_home


@contextlib.contextmanager
def database_server() -> Generator[str]:
    """Address of the superuser's own database on a server of its own."""
    with new_home() as home, acquire(home, binaries=binaries_under_test(), settings=FAST) as engine:
        yield named(engine.server.dsn, "postgres")


@contextlib.contextmanager
def migrated(admin_dsn: str) -> Generator[str]:
    """A new database with the ledger's schema, gone afterwards."""
    with new_database(admin_dsn) as dsn:
        with ThreadPoolExecutor(1) as pool:  # whoever calls may have an event loop of its own
            pool.submit(asyncio.run, migrate(dsn)).result()
        yield dsn


@contextlib.contextmanager
def ledger_database() -> Generator[str]:
    """A server with one such database."""
    with database_server() as admin_dsn, migrated(admin_dsn) as dsn:
        yield dsn

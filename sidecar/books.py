"""The ledger opened for reading: without a running sidecar, and without the provider."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from ledger.postgres.ledger import Ledger
from ledger.postgres.search import Search
from sidecar.settings import Settings
from sidecar.wiring import open_ledger


@dataclass(frozen=True, slots=True)
class Books:
    """The ledger, and the searches over it."""

    ledger: Ledger
    search: Search


@asynccontextmanager
async def books(settings: Settings) -> AsyncGenerator[Books]:
    """Open them.

    Raises:
        DatabaseUnreachable, SchemaMismatch, UnsafeDatabase, EmbeddedPostgresError: As
            `open_ledger`.
    """
    async with open_ledger(settings) as ledger, Search(ledger.database) as search:
        yield Books(ledger, search)

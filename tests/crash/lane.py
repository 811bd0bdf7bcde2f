"""A lane plays one case after another: its own sandbox, nursery and folder, a database a case."""

import asyncio
import importlib
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from dispatcher.providers.stripe import StripeConfig, stripe_types
from ledger.postgres.clock import mark_test_database
from ledger.postgres.connect import Database
from ledger.postgres.embedded import acquire
from sandbox.control import Control
from sidecar.registry import Types
from tests.crash.faults import OLD_KEY
from tests.crash.processes import Nursery, nursery_process, sandbox_process
from tests.support.postgres import FAST, binaries_under_test, named, new_database, new_home


@dataclass(frozen=True, slots=True)
class Server:
    """The PostgreSQL that all lanes share, and the database that each case's is a copy of."""

    admin_dsn: str
    template: str


@dataclass(frozen=True, slots=True)
class Lane:
    """What the cases of one lane use in turn."""

    server: Server
    url: str
    """The sandbox's address."""
    control: Control
    nursery: Nursery
    folder: Path
    types: Types
    """The director's own adapter: proposes operations, never sends."""

    @asynccontextmanager
    async def database(self) -> AsyncGenerator[str]:
        """A database with a ledger in it, and a clock that can be set."""
        made = new_database(self.server.admin_dsn, template=self.server.template)
        dsn = await asyncio.to_thread(made.__enter__)
        try:
            yield dsn
        finally:
            await asyncio.to_thread(made.__exit__, None, None, None)


@contextmanager
def new_server() -> Generator[Server]:
    """Start PostgreSQL and prepare the template."""
    migrate = importlib.import_module("ledger.postgres.migrate").migrate
    with (
        new_home() as home,
        acquire(home, binaries=binaries_under_test(), settings=FAST) as engine,
    ):
        admin_dsn = named(engine.server.dsn, "postgres")
        with new_database(admin_dsn) as dsn:
            asyncio.run(migrate(dsn))
            asyncio.run(_mark(dsn))
            yield Server(admin_dsn, urlsplit(dsn).path.removeprefix("/"))


@asynccontextmanager
async def new_lane(server: Server) -> AsyncGenerator[Lane]:
    """Start a lane's processes."""
    async with sandbox_process() as (url, control), nursery_process() as nursery:
        types = stripe_types(StripeConfig(api_key=OLD_KEY, salt=b"director", base_url=url))
        async with aclosing(types[0]):
            with TemporaryDirectory(prefix="outlive-crash-") as folder:
                yield Lane(server, url, control, nursery, Path(folder), Types(types))


async def _mark(dsn: str) -> None:
    async with await Database(dsn).open() as connection:
        await mark_test_database(connection)

"""Durable PostgreSQL servers of our own: one to be killed, or a primary with its standby."""

import asyncio
import shutil
import signal
import subprocess
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil
import psycopg
from psycopg.conninfo import conninfo_to_dict

from ledger.postgres.embedded import EmbeddedPostgres, acquire
from ledger.postgres.engine_account import account_for, hand_over
from ledger.postgres.engine_binaries import Binaries, find_binaries
from ledger.postgres.migrate import migrate
from tests.chaos.processes import free_port
from tests.support.postgres import binaries_under_test, new_home

START_S: Final = 60.0
_POLL_S: Final = 0.05
DURABLE: Final[Mapping[str, str]] = {"max_connections": "100"}


@dataclass(frozen=True, slots=True)
class Address:
    """A server over TCP, as a proxy or a pooler reaches it."""

    port: int
    password: str

    def dsn(self, port: int | None = None, database: str = "outlive") -> str:
        """The address of a database, by this port or that of something before it."""
        return f"postgresql://postgres:{self.password}@127.0.0.1:{port or self.port}/{database}"


def address_of(engine: EmbeddedPostgres) -> Address:
    """How an embedded engine is reached over TCP."""
    password = str(conninfo_to_dict(engine.server.dsn)["password"])
    return Address(engine.server.port, password)


@asynccontextmanager
async def engine(
    settings: Mapping[str, str] = DURABLE, *, home: Path | None = None, fast: bool = False
) -> AsyncGenerator[tuple[EmbeddedPostgres, Address]]:
    """An engine with fsync on and a migrated database."""
    with new_home(fast=fast) as usual:
        made = await asyncio.to_thread(
            acquire, home or usual, binaries=binaries_under_test(), settings=settings
        )
        try:
            address = address_of(made)
            await migrate(address.dsn())
            yield made, address
        finally:
            await asyncio.to_thread(made.close)


@dataclass(slots=True)
class Node:
    """One server of a pair; made as a copy of another, started and killed by hand.

    The product's engine does not start standbys, so that these are started without it.
    """

    folder: Path
    address: Address
    binaries: Binaries
    process: subprocess.Popen[bytes] | None = None

    async def copy(self, source: Address) -> None:
        """Make the data anew as a standby of `source`."""
        await asyncio.to_thread(self._copy, source)

    def _copy(self, source: Address) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(mode=0o700, parents=True)
        subprocess.run(
            [
                *(self.binaries.folder / "pg_basebackup", "--wal-method=stream", "--no-sync"),
                *("--checkpoint=fast", "--write-recovery-conf"),
                *("-D", self.folder / "data", "-d", source.dsn(database="postgres")),
            ],
            check=True,
            capture_output=True,
        )

    async def start(self) -> None:
        """Start it, and wait until it answers."""
        account = account_for(self.folder, self.binaries.postgres)
        hand_over(self.folder, account)
        with (self.folder.parent / f"{self.folder.name}.log").open("ab") as log:
            self.process = account.popen(
                *(self.binaries.postgres, "-D", self.folder / "data"),
                *("-c", f"port={self.address.port}", "-c", "listen_addresses=127.0.0.1"),
                *("-c", "unix_socket_directories=", "-c", "logging_collector=off"),
                output=log,
            )
        until = time.monotonic() + START_S
        while time.monotonic() < until:
            with suppress(psycopg.OperationalError):
                await self.ask("SELECT 1")
                return
            await asyncio.sleep(_POLL_S)
        raise RuntimeError(f"PostgreSQL did not start; see {self.folder}.log")

    async def kill(self) -> None:
        """SIGKILL to all of it at once: nothing is written down any more."""
        await asyncio.to_thread(self._kill)

    def _kill(self) -> None:
        if self.process is None:
            return
        with suppress(psutil.NoSuchProcess):
            head = psutil.Process(self.process.pid)
            head.suspend()  # so that it does not tidy up after its children
            for one in [*head.children(recursive=True), head]:
                with suppress(psutil.NoSuchProcess):
                    one.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process = None

    async def ask(self, *statements: str) -> object:
        """Run statements one by one; the first value of the last."""
        connection = await psycopg.AsyncConnection.connect(
            self.address.dsn(), autocommit=True, connect_timeout=2
        )
        async with connection:
            told: object = None
            for statement in statements:
                cursor = await connection.execute(statement.encode())
                row = await cursor.fetchone() if cursor.description else None
                told = row[0] if row else None
            return told


@asynccontextmanager
async def pair() -> AsyncGenerator[tuple[Node, Node]]:
    """A primary with a migrated database, and a synchronous standby that follows it."""
    with new_home(fast=False) as home:
        binaries = find_binaries(binaries_under_test())
        first = await asyncio.to_thread(
            acquire, home, binaries=binaries_under_test(), settings=DURABLE
        )
        try:
            source = address_of(first)
            await migrate(source.dsn())
            nodes = [
                Node(home.parent / name, Address(free_port(), source.password), binaries)
                for name in ("a", "b")
            ]
            await nodes[0].copy(source)
        finally:
            await asyncio.to_thread(first.close)
        (nodes[0].folder / "data" / "standby.signal").unlink()
        try:
            await nodes[0].start()
            await follow(nodes[1], nodes[0])
            yield nodes[0], nodes[1]
        finally:
            await asyncio.gather(*(node.kill() for node in nodes))


async def follow(standby: Node, primary: Node) -> None:
    """Make `standby` anew as a synchronous standby of `primary`: commits wait for it from then."""
    await standby.copy(primary.address)
    await standby.start()
    await primary.ask("ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
    streaming = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
    async with asyncio.timeout(START_S):
        while not await primary.ask(streaming):  # noqa: ASYNC110  the server brings it about
            await asyncio.sleep(_POLL_S)


async def promote(standby: Node) -> None:
    """Make it the primary; until it has a standby of its own, its commits wait for nobody."""
    await standby.ask("SELECT pg_promote()")
    await standby.ask("ALTER SYSTEM SET synchronous_standby_names = ''", "SELECT pg_reload_conf()")

"""Debian's PgBouncer in transaction mode, started by us on loopback as an unprivileged user."""

import asyncio
import os
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psycopg

from ledger.postgres.engine_account import NOBODY
from tests.chaos.cluster import Address
from tests.chaos.processes import free_port
from tests.chaos.report import Skipped

START_S: Final = 20.0
_POLL_S: Final = 0.05
_PLACES: Final = (os.environ.get("PATH", ""), "/usr/sbin")
_CONFIG: Final = """
[databases]
outlive = host=127.0.0.1 port={server}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {users}
pool_mode = transaction
default_pool_size = 8
server_reset_query =
logfile = {log}
"""


def program() -> str:
    """Where PgBouncer is.

    Raises:
        Skipped: It is not installed.
    """
    found = shutil.which("pgbouncer", path=os.pathsep.join(_PLACES))
    if found is None:
        raise Skipped("PgBouncer is not installed here (Debian: apt-get install pgbouncer)")
    return found


@dataclass(slots=True)
class Pooler:
    """One PgBouncer before one server."""

    folder: Path
    server: Address
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def dsn(self) -> str:
        """The ledger's database through it."""
        return self.server.dsn(self.port)

    async def start(self) -> None:
        """Start it, and wait until a statement goes through."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        users, config = self.folder / "users.txt", self.folder / "pgbouncer.ini"
        users.write_text(f'"postgres" "{self.server.password}"\n')
        config.write_text(
            _CONFIG.format(
                server=self.server.port,
                port=self.port,
                users=users,
                log=self.folder / "pgbouncer.log",
            )
        )
        await asyncio.to_thread(self._launch, config)
        async with asyncio.timeout(START_S):
            while not await self._answers():  # noqa: ASYNC110  another process brings it about
                await asyncio.sleep(_POLL_S)

    def _launch(self, config: Path) -> None:
        root = os.geteuid() == 0  # it refuses to run as root
        if root:
            for path in (self.folder, *self.folder.iterdir()):
                os.chown(path, NOBODY, NOBODY)
        self.process = subprocess.Popen(
            [program(), "-q", config],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            user=NOBODY if root else None,
            group=NOBODY if root else None,
            extra_groups=[] if root else None,
            start_new_session=True,
        )

    async def kill(self) -> None:
        """End it without a farewell: every transaction that goes through it is cut."""
        if self.process is not None:
            self.process.kill()
            await asyncio.to_thread(self.process.wait)
            self.process = None

    async def _answers(self) -> bool:
        with suppress(psycopg.OperationalError):
            connection = await psycopg.AsyncConnection.connect(
                self.dsn, autocommit=True, connect_timeout=2, prepare_threshold=None
            )
            async with connection:
                await connection.execute("SELECT 1")
            return True
        return False

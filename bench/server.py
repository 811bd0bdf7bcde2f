"""A PostgreSQL server of its own for a benchmark: the wheel's, durable, on this machine's disk."""

import asyncio
import re
import shutil
import tempfile
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Final

import psutil
import psycopg
from psycopg.sql import SQL, Identifier, Literal

from ledger.postgres.embedded import acquire
from ledger.postgres.engine_binaries import find_binaries
from ledger.postgres.migrate import migrate

SLOW_DISK: Final[Mapping[str, str]] = {"commit_delay": "1000", "commit_siblings": "0"}
"""A millisecond a flush; who comes meanwhile shares it, as on a disk that is slow to sync."""
_TPS: Final = re.compile(r"tps = ([0-9.]+)")
_FAILED: Final = re.compile(r"number of failed transactions: (\d+)")


@contextmanager
def home() -> Generator[Path]:
    """A folder on disk that every account may pass through; gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="outlive-bench-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def server() -> AsyncGenerator[str]:
    """The DSN of a ledger with nothing in it; fsync and synchronous_commit are on."""
    with home() as folder, acquire(folder, settings={"max_connections": "300"}) as engine:
        await migrate(engine.server.dsn)
        yield engine.server.dsn


async def server_cpu_s(dsn: str) -> float:
    """CPU time of the server so far, with all its processes, also those that have ended."""
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        cursor = await connection.execute("SELECT pg_read_file('postmaster.pid', 0, 20)")
        row = await cursor.fetchone()
    assert row is not None  # noqa: S101  a SELECT without FROM has one row
    postmaster = psutil.Process(int(row[0].split()[0]))
    used = postmaster.cpu_times()
    total = used.user + used.system + used.children_user + used.children_system
    for child in postmaster.children():
        with suppress(psutil.Error):
            each = child.cpu_times()
            total += each.user + each.system
    return total


@asynccontextmanager
async def setting(dsn: str, values: Mapping[str, str]) -> AsyncGenerator[None]:
    """Change settings of the whole server for a while."""
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        for name, value in values.items():
            await connection.execute(
                SQL("ALTER SYSTEM SET {} = {}").format(Identifier(name), Literal(value))
            )
        await connection.execute("SELECT pg_reload_conf()")
        await _until(connection, values)
        try:
            yield
        finally:
            for name in values:
                await connection.execute(SQL("ALTER SYSTEM RESET {}").format(Identifier(name)))
            await connection.execute("SELECT pg_reload_conf()")


async def _until(connection: psycopg.AsyncConnection, values: Mapping[str, str]) -> None:
    """The postmaster reads its file when its signal arrives: ask until it has."""
    for name, value in values.items():
        while True:
            cursor = await connection.execute(
                "SELECT setting FROM pg_settings WHERE name = %s", [name]
            )
            if await cursor.fetchone() == (value,):
                break
            await asyncio.sleep(0.01)


async def pgbench(dsn: str, script: Path, *, clients: int, times: int) -> float:
    """Run a pgbench script so often in each client, prepared, in autocommit; scripts a second.

    The time that connecting takes is not in it.

    Raises:
        RuntimeError: It failed, or one of its transactions did.
    """
    program = find_binaries().folder / "pgbench"
    process = await asyncio.create_subprocess_exec(
        *(str(program), "-n", "-M", "prepared", "-c", str(clients), "-j", str(min(2, clients))),
        *("-t", str(times), "-f", str(script), dsn),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    said = out.decode()
    tps, failed = _TPS.search(said), _FAILED.search(said)
    if process.returncode or tps is None or failed is None or failed[1] != "0":
        raise RuntimeError(f"pgbench failed: {said}{err.decode()}")
    return float(tps[1])

"""The disk under PostgreSQL's data runs full under load, and is given room again."""

import asyncio
import os
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Final

import psycopg

from ledger.postgres.embedded import EmbeddedPostgres
from ledger.postgres.engine_errors import EmbeddedPostgresError
from tests.chaos.cluster import DURABLE, engine
from tests.chaos.report import Row, Skipped
from tests.chaos.town import Plan, town

ROUNDS = 5
FEW = 1
SIZE: Final = "192m"
SETTINGS: Final = {
    **DURABLE,
    "min_wal_size": "32MB",
    "max_wal_size": "32MB",
    "wal_recycle": "off",
}
TROUBLES = 3
_CHUNK_BYTES: Final = 1024 * 1024


async def play(folder: Path, rounds: int) -> Row:
    """Each round fills the disk to the last byte, and frees it once agents have noticed."""
    disk = folder / "disk"
    _mount(disk)
    try:
        async with (
            engine(SETTINGS, home=disk / "home") as (server, address),
            town(Plan(address.dsn(), address.dsn()), folder) as place,
        ):
            async with place.busy() as load:
                await load.flow(5)
                for _ in range(rounds):
                    ballast = asyncio.create_task(_keep_full(disk / "ballast", server))
                    await load.trouble(TROUBLES)
                    ballast.cancel()
                    await asyncio.wait([ballast])
                    (disk / "ballast").unlink()
                    await _running(server)
                    place.rounds += 1
                    await load.flow(5)
            said = any("HTTP 503" in told for told in load.told.unclear)
            place.expect(said, "no agent was told that the ledger can't write now")
            place.notes.extend(f"agents were told: {told}" for told in sorted(load.told.unclear))
            return await place.row("disk-full")
    finally:
        await asyncio.to_thread(_unmount, disk)


def _mount(disk: Path) -> None:
    if os.geteuid() != 0:
        raise Skipped("mounting a small disk takes root")
    disk.mkdir()
    options = f"size={SIZE},mode=0711"
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "outlive-chaos", disk],
        check=False,
        capture_output=True,
        text=True,
    )
    if made.returncode:
        raise Skipped(f"no small disk can be mounted here: {made.stderr.strip()}")


def _unmount(disk: Path) -> None:
    subprocess.run(["umount", "--lazy", disk], check=True)


async def _keep_full(ballast: Path, server: EmbeddedPostgres) -> None:
    """Take every byte that becomes free, and end the log segments that were set up before."""
    with ballast.open("ab", buffering=0) as file:
        while True:
            with suppress(OSError):
                while file.write(bytes(_CHUNK_BYTES)) == _CHUNK_BYTES:
                    pass
            await asyncio.to_thread(_next_segment, server)
            await asyncio.sleep(0.05)


def _next_segment(server: EmbeddedPostgres) -> None:
    with (
        suppress(psycopg.Error),
        psycopg.connect(server.server.dsn, autocommit=True, connect_timeout=2) as connection,
    ):
        connection.execute("SELECT pg_switch_wal()")


async def _running(server: EmbeddedPostgres) -> None:
    """Start the server again if it has ended, as a service manager does."""
    with suppress(EmbeddedPostgresError):
        await asyncio.to_thread(server.start)

"""A door runs out of file descriptors under load, and has them again later."""

import asyncio
import resource
from contextlib import suppress
from pathlib import Path

import psutil

from tests.chaos.cluster import engine
from tests.chaos.report import Row
from tests.chaos.town import Plan, Town, town

ROUNDS = 10
FEW = 1
NOTICES = 2
"""asyncio tries to take connections in again once a second."""
NOTICE_LIMIT_S = 30.0
SAID = b"socket.accept() out of system resource"
LINES_MOST = 5_000
"""What a door may write in a round; one that went round in circles wrote two hundred thousand."""
_POLL_S = 0.05
_SPARE = 2
"""How many more the process may open than it has open when its limit is set."""


async def play(folder: Path, rounds: int) -> Row:
    """Each round lets idle connections take up what the door may still open, then closes them."""
    async with (
        engine() as (_, address),
        town(Plan(address.dsn(), address.dsn(), agents=8), folder) as place,
    ):
        async with place.busy() as load:
            await load.flow(5)
            for _ in range(rounds):
                await _exhaust(place)
                place.rounds += 1
                await load.flow(5)
        door = place.processes["serve-1"]
        place.expect(door.restarts == 0, "the door did not outlive it")
        lines = door.log.read_bytes().count(b"\n")
        place.expect(lines < LINES_MOST * rounds, f"it wrote {lines} lines about it")
        return await place.row("file-descriptors")


async def _noticed(place: Town) -> None:
    """Return when the door has said so many more times that it can't take anybody in."""
    log = place.processes["serve-1"].log
    wanted = log.read_bytes().count(SAID) + NOTICES
    async with asyncio.timeout(NOTICE_LIMIT_S):
        while log.read_bytes().count(SAID) < wanted:  # noqa: ASYNC110  another process writes it
            await asyncio.sleep(_POLL_S)


async def _exhaust(place: Town) -> None:
    door = place.processes["serve-1"].process
    assert door is not None
    port = int(place.processes["serve-1"].arguments[2])
    usual = resource.prlimit(door.pid, resource.RLIMIT_NOFILE)
    limit = psutil.Process(door.pid).num_fds() + _SPARE
    resource.prlimit(door.pid, resource.RLIMIT_NOFILE, (limit, usual[1]))
    idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2 * limit)]
    try:
        await _noticed(place)
    finally:
        resource.prlimit(door.pid, resource.RLIMIT_NOFILE, usual)
        for _, writer in idle:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

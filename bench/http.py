"""The same operation through the HTTP door, over the same in process.

`outlive serve` and its client are processes of their own. In process, the desk behind the door is
asked directly: policy, look-alikes, ledger, dispatcher, and the standing that is answered.
"""

import asyncio
import itertools
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

from bench.instant import NAME, Instant, item
from bench.rounds import Case, Line, Options, Result, Rounds, at_least, interleaved, run
from bench.server import home, server
from bench.way import Way, rate
from dispatcher.deadline import SystemClock
from dispatcher.dispatch import Dispatcher
from dispatcher.timing import Timing
from ledger.commands import Worker
from ledger.postgres.connect import Database
from ledger.postgres.ledger import Ledger
from sidecar.proposals.desk import Desk
from sidecar.proposals.policy_file import PolicyFile
from sidecar.proposals.proposing import Proposer, Wanted
from sidecar.proposals.sending import Sender
from sidecar.proposals.waiting import Waits
from sidecar.registry import Types

IN_FLIGHT: Final = (1, 32, 128)
_NUMBERS: Final = itertools.count(1)
POLICY: Final = f"""
version = 1
[[rules]]
name = "small"
types = ["{NAME}"]
total_at_most_minor = {{ eur = 1000 }}
"""


@dataclass(frozen=True, slots=True)
class Door:
    """A serving process: where it is, and tokens for it."""

    url: str
    agent: str
    admin: str
    pid: int


class AtTheDesk:
    """What the door calls, without the door."""

    def __init__(self, ledger: Ledger, policy: Path) -> None:
        types = Types([Instant()])
        worker = Worker(uuid4(), "bench", "here", 1)
        dispatcher = Dispatcher(ledger, types, worker, Timing(), SystemClock())
        waits = Waits(ledger.pool)
        self.sender = Sender(ledger, dispatcher, waits.ended)
        self.desk = Desk(
            ledger,
            Proposer(ledger, types, PolicyFile(policy), lease_s=90),
            self.sender,
            waits,
            worker,
        )

    async def once(self) -> None:
        """One operation, asked for and told of."""
        number = next(_NUMBERS)
        wanted = Wanted(
            type=NAME, items=[item(-number)], agent="agent:here", request_key=f"key:{number}"
        )
        standing = await self.desk.propose(wanted)
        if not standing.ended:
            raise RuntimeError(f"not ended: {standing}")


@asynccontextmanager
async def serving(dsn: str, folder: Path, policy: Path) -> AsyncGenerator[Door]:
    """The door in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.http_server"),
        stdout=asyncio.subprocess.PIPE,
        env={
            **os.environ,
            "OUTLIVE_HOME": str(folder / "serving"),
            "OUTLIVE_DATABASE_URL": dsn,
            "OUTLIVE_POLICY_FILE": str(policy),
            "OUTLIVE_HTTP_PORT": "0",
            "OUTLIVE_HTTP_RATE_PER_S": "1000000",
            "OUTLIVE_HTTP_RATE_BURST": "1000000",
            "OUTLIVE_TELEMETRY": "false",
            "STRIPE_API_KEY": "sk_test_nobody",
            "OUTLIVE_STRIPE_URL": "http://127.0.0.1:9",
        },
    )
    assert process.stdout is not None  # noqa: S101  asked for above
    try:
        url, agent, admin = (await process.stdout.readline()).decode().split()
        yield Door(url, agent, admin, process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        await process.communicate()


async def through(door: Door, path: str, *, in_flight: int, seconds: float) -> float:
    """Answers a second, by a client in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        *(
            sys.executable,
            "-m",
            "bench.http_client",
            door.url,
            door.agent,
            path,
            str(in_flight),
            str(seconds),
        ),
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    if process.returncode:
        raise RuntimeError("the client failed")
    return float(out)


async def measure(options: Options) -> Result:
    """Door, desk, and ledger with dispatcher, by turns."""
    lines: list[Line] = []
    with home() as folder:
        policy = folder / "policy.toml"
        policy.write_text(POLICY)
        policy.chmod(0o644)
        async with (
            server() as dsn,
            Ledger(Database(dsn)) as ledger,
            serving(dsn, folder, policy) as door,
        ):
            desk, way = AtTheDesk(ledger, policy), Way(ledger)
            for in_flight in IN_FLIGHT:
                told = await _compared(door, desk, way, in_flight, options)
                lines += [
                    Line(
                        f"{in_flight} in flight, door over desk",
                        told.ratio("door", to="desk"),
                        aim=at_least(0.5),
                    ),
                    Line(
                        f"{in_flight} in flight, desk over ledger and dispatcher",
                        told.ratio("desk", to="way"),
                    ),
                    Line(f"{in_flight} in flight, door", told.figure("door"), "/s"),
                    Line(f"{in_flight} in flight, health alone", told.figure("live"), "/s"),
                ]
            await desk.sender.drain()
    return Result(
        name="http",
        about="a whole operation through the HTTP door, over the same in process",
        lines=lines,
    )


async def _compared(
    door: Door, desk: AtTheDesk, way: Way, in_flight: int, options: Options
) -> Rounds:
    seconds = 1 if options.quick else 2

    async def at_door() -> float:
        return await through(door, "/v1/operations", in_flight=in_flight, seconds=seconds)

    async def at_desk() -> float:
        return await rate(desk.once, in_flight=in_flight, seconds=seconds)

    async def bare() -> float:
        return await rate(way.once, in_flight=in_flight, seconds=seconds)

    async def live() -> float:
        return await through(door, "/health", in_flight=in_flight, seconds=seconds)

    cases = [Case("door", at_door), Case("desk", at_desk), Case("way", bare), Case("live", live)]
    return await interleaved(cases, options)


if __name__ == "__main__":
    sys.exit(run(measure))

"""The processes of the soak: two doors and two workers, killed one at a time and started again."""

import asyncio
import os
import socket
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from sidecar.demo.data import SETTINGS
from sidecar.sandboxed import Addresses, ended

ROOT: Final = Path(__file__).parents[2]
START_LIMIT_S: Final = 60.0
KILL_EVERY_S: Final = (0.5, 2.5)
"""Between one process being ready again and the next death, drawn evenly."""
POLICY: Final = """
version = 1
[[rules]]
name = "small_refunds"
types = ["stripe.refund"]
total_at_most_minor = {usd = 2000}
"""


@dataclass(slots=True)
class Kept:
    """One process: what starts it, and the one that runs now."""

    name: str
    arguments: tuple[str, ...]
    ready: str
    """The word at the beginning of the line that it is ready with."""
    log: Path
    environment: Mapping[str, str]
    process: Process | None = None

    async def start(self) -> None:
        """Start it, and wait until it says that it is ready.

        Raises:
            RuntimeError: It did not start.
        """
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "sidecar.cli.main", *self.arguments),
                cwd=ROOT,
                env=self.environment,
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=log,
                start_new_session=True,
            )
        assert self.process.stdout is not None
        async with asyncio.timeout(START_LIMIT_S):
            async for line in self.process.stdout:
                if line.decode().startswith(self.ready):
                    return
        raise RuntimeError(f"{self.name} did not start; see {self.log}")

    async def kill(self) -> None:
        """End it as the kernel does."""
        assert self.process is not None
        self.process.kill()
        await self.process.wait()


@dataclass(slots=True)
class Street:
    """Everything that runs, and how often each was killed."""

    doors: tuple[str, str]
    kept: tuple[Kept, ...]
    killed: Counter[str] = field(default_factory=Counter[str])

    async def kill_at_random(self, seed: int, stop: asyncio.Event) -> None:
        """Kill one, start it again, go on; ends once told to, when each was killed at least once.

        Raises:
            RuntimeError: One ended by itself, or did not start again.
        """
        draw = Random(seed)  # noqa: S311  repeatable, and no secret
        while not stop.is_set() or len(self.killed) < len(self.kept):
            await asyncio.sleep(draw.uniform(*KILL_EVERY_S))
            left = [one for one in self.kept if stop.is_set() and one.name not in self.killed]
            chosen = draw.choice(left or self.kept)
            self._all_run()
            await chosen.kill()
            self.killed[chosen.name] += 1
            await chosen.start()

    def _all_run(self) -> None:
        for one in self.kept:
            if one.process is None or one.process.returncode is not None:
                raise RuntimeError(f"{one.name} ended by itself; see {one.log}")


@asynccontextmanager
async def street(dsn: str, provider: Addresses, home: Path) -> AsyncGenerator[Street]:
    """Start two doors and two workers on one database."""
    (home / "policy.toml").write_text(POLICY)
    environment = {
        **os.environ,
        **SETTINGS,
        "OUTLIVE_HOME": str(home),
        "OUTLIVE_DATABASE_URL": dsn,
        "OUTLIVE_STRIPE_URL": provider.api,
        "STRIPE_API_KEY": provider.key,
        "OUTLIVE_RESENDS_PER_HOUR": "1000000",
        "OUTLIVE_RESENT_MINOR_PER_HOUR": "1000000000",
        "OUTLIVE_HTTP_RATE_PER_S": "10000",
        "OUTLIVE_HTTP_RATE_BURST": "10000",
        "PYTHONUNBUFFERED": "1",
    }
    ports = _free_ports(2)
    started = [
        *(("serve", "doors", "--port", str(port)) for port in ports),
        *(("worker", "worker") for _ in range(2)),
    ]
    kept: list[Kept] = []
    for number, (command, ready, *more) in enumerate(started, 1):
        name = f"{command}-{number}"
        arguments = ("-v", command, "--identity", name, *more)
        kept.append(Kept(name, arguments, ready, home / f"{name}.log", environment))
    try:
        await asyncio.gather(*(one.start() for one in kept))
        yield Street((_url(ports[0]), _url(ports[1])), tuple(kept))
    finally:
        await asyncio.gather(*(ended(one.process) for one in kept if one.process is not None))


def _url(port: int) -> str:
    return f"http://127.0.0.1:{port}"


def _free_ports(count: int) -> list[int]:
    """Ports that nobody has; each door comes back to its own after a kill."""
    taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [one.getsockname()[1] for one in taken]
    finally:
        for one in taken:
            one.close()

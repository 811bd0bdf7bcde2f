"""Processes of the product, kept running as a service manager keeps them."""

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
START_LIMIT_S: Final = 60.0
AGAIN_S: Final = 0.3
_READY: Final = {"serve": "doors", "worker": "worker"}


@dataclass(slots=True)
class Kept:
    """One process: ended by itself, it is started again."""

    name: str
    arguments: tuple[str, ...]
    """`serve` or `worker`, and its options."""
    log: Path
    environment: Mapping[str, str]
    code: Path = ROOT
    """The tree whose code it runs."""
    process: Process | None = None
    restarts: int = 0
    _keeping: asyncio.Task[None] | None = None
    _leave_alone: bool = field(default=False)

    async def start(self) -> None:
        """Start it, wait until it is ready, and keep it running from then on.

        Raises:
            RuntimeError: It did not become ready.
        """
        self._leave_alone = False
        if not await self._launch():
            raise RuntimeError(f"{self.name} did not start; see {self.log}")
        self._keeping = asyncio.create_task(self._keep(), name=f"keeping {self.name}")

    async def kill(self) -> None:
        """End it as the kernel does, and start it again."""
        await self.end(signal.SIGKILL)
        await self.start()

    async def end(self, number: int = signal.SIGTERM, *, within_s: float = 60.0) -> int:
        """End it, and leave it so; returns its exit code.

        Raises:
            TimeoutError: It did not end in time; it is killed then.
        """
        self._leave_alone = True
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.wait([self._keeping])
            self._keeping = None
        process = self.process
        if process is None:
            return 0
        with suppress(ProcessLookupError):
            process.send_signal(number)
        try:
            async with asyncio.timeout(within_s):
                return await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
            raise

    async def _launch(self) -> bool:
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "sidecar.cli.main", "-v"),
                *(*self.arguments, "--identity", self.name),
                cwd=self.code,
                env={**self.environment, "PYTHONPATH": str(self.code)},
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=log,
                start_new_session=True,
            )
        assert self.process.stdout is not None
        ready = _READY[self.arguments[0]].encode()
        async with asyncio.timeout(START_LIMIT_S):
            async for line in self.process.stdout:
                if line.startswith(ready):
                    return True
        await self.process.wait()
        return False

    async def _keep(self) -> None:
        """As `Restart=always` does. What it says after its start is read, so that it never blocks.

        Source: https://www.freedesktop.org/software/systemd/man/latest/systemd.service.html
        """
        while not self._leave_alone:
            process = self.process
            assert process is not None
            assert process.stdout is not None
            while await process.stdout.read(65_536):
                pass
            await process.wait()
            self.restarts += 1
            while not await self._launch():  # noqa: ASYNC110  another process brings it about
                await asyncio.sleep(AGAIN_S)


def free_port() -> int:
    """A port that nobody has now."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


def environment(**settings: str) -> dict[str, str]:
    """Our environment without what the shell may have set for the product, with `settings`."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OUTLIVE_", "STRIPE_"))}
    return {**kept, **settings, "PYTHONUNBUFFERED": "1"}

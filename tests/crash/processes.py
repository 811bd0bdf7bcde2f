"""The two helpers of a lane as processes: the sandbox, and the nursery that forks workers."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

from sandbox.control import Control

ROOT: Final = Path(__file__).resolve().parents[2]
START_S: Final = 60.0


@asynccontextmanager
async def sandbox_process() -> AsyncGenerator[tuple[str, Control]]:
    """Run `python -m sandbox`: its address, and its control."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "sandbox", stdout=PIPE, cwd=ROOT
    )
    try:
        told = json.loads(await _line(process))
        async with Control(told["control"]) as control:
            yield told["api"], control
    finally:
        process.terminate()
        await process.wait()


class Child:
    """A process of the nursery, as far as the news about it tell."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.status: int | None = None
        """Exit status, negative for a signal; `None` while it lives."""
        self.stopped = asyncio.Event()
        self.ended = asyncio.Event()
        self.halted = asyncio.Event()
        """Stopped or ended."""

    def resume(self) -> None:
        """Let it go on where it was stopped."""
        self.stopped.clear()
        self.halted.clear()
        self.send(signal.SIGCONT)

    def send(self, number: int) -> None:
        """Send it a signal, unless it has ended already."""
        if not self.ended.is_set():
            with suppress(ProcessLookupError):  # it has ended; the news of it is on its way
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it, whatever it is doing."""
        self.send(signal.SIGKILL)

    def hear(self, news: dict[str, int]) -> None:
        """Take in one piece of news."""
        if "stopped" in news:
            self.stopped.set()
        else:
            self.status = news["status"]
            self.ended.set()
        self.halted.set()


class Nursery:
    """Starts workers, and hears what becomes of them."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._children: dict[int, Child] = {}
        self._started: asyncio.Queue[Child] = asyncio.Queue()
        self._ears = asyncio.create_task(self._listen())

    async def start(self, plan: dict[str, Any]) -> Child:
        """Fork a worker."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(plan).encode() + b"\n")
        async with asyncio.timeout(START_S):
            return await self._started.get()

    async def close(self) -> None:
        """End it, and with it whatever it started."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()
        await self._ears

    async def _listen(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            news: dict[str, int] = json.loads(line)
            if "started" in news:
                child = self._children[news["started"]] = Child(news["started"])
                self._started.put_nowait(child)
            else:
                self._children[news.get("stopped") or news["ended"]].hear(news)


@asynccontextmanager
async def nursery_process() -> AsyncGenerator[Nursery]:
    """Run a nursery."""
    script = Path(__file__).with_name("nursery.py")
    nursery = Nursery(
        await asyncio.create_subprocess_exec(sys.executable, script, stdin=PIPE, stdout=PIPE)
    )
    try:
        yield nursery
    finally:
        await nursery.close()


async def _line(process: Process) -> bytes:
    assert process.stdout is not None
    async with asyncio.timeout(START_S):
        return await process.stdout.readline()

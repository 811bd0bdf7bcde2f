"""The same durable "record, do nothing, complete" by others, on the same server.

Each peer runs in a process of its own, in an environment of its own (`.venv-peers`), as its
documentation shows it, with up to 16 connections; 32 callers, each with one in flight. What they
keep differs, so a ratio says what a durable step costs, not who is better:

* dbos: workflow and step recorded before and after; resumes workflows after a crash;
* procrastinate, pgqueuer: a job queued, run by a worker, finished; at least once;
* agent-ledger: an effect under an idempotency key, recorded before and after;
* none of them asks a provider what happened, keeps an authorization, or chains its history.

absurd-sdk is left out: its schema is not in its package.
"""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import psycopg

from bench.cpu import Cpu
from bench.rounds import Case, Figure, Line, Options, Result, at_least, interleaved, run
from bench.server import server, server_cpu_s
from bench.way import Way, rate
from ledger.postgres.connect import Database
from ledger.postgres.ledger import Ledger

PEERS: Final = {
    "dbos": "dbos_",
    "procrastinate": "procrastinate_",
    "agent-ledger": "agent_ledger_",
    "pgqueuer": "pgqueuer_",
}
IN_FLIGHT: Final = 32
_KEPT: Final = (
    "dbos records a workflow and its step and resumes it; procrastinate and pgqueuer run a queued "
    "job at least once; agent-ledger keeps an effect under a key. None of them asks a provider, "
    "keeps an authorization or chains its history."
)
_FOLDER: Final = Path(__file__).parent / "peers"
_PYTHON: Final = Path(__file__).parent.parent / ".venv-peers" / "bin" / "python"


class Peer:
    """A peer's process, asked for one round at a time."""

    def __init__(self, process: asyncio.subprocess.Process, dsn: str) -> None:
        self._process = process
        self._dsn = dsn

    async def line(self) -> str:
        """What it says next.

        Raises:
            RuntimeError: It ended.
        """
        assert self._process.stdout is not None  # noqa: S101  asked for when it was started
        said = await self._process.stdout.readline()
        if not said:
            raise RuntimeError("a peer ended; see what it said")
        return said.decode()

    async def round(self, seconds: float) -> tuple[float, float]:
        """Operations a second, and CPU milliseconds an operation, the server's included."""
        assert self._process.stdin is not None  # noqa: S101  asked for when it was started
        before = await server_cpu_s(self._dsn)
        self._process.stdin.write(f"{seconds}\n".encode())
        await self._process.stdin.drain()
        told = json.loads(await self.line())
        cpu_s = told["cpu_s"] + await server_cpu_s(self._dsn) - before
        return told["done"] / told["seconds"], cpu_s / told["done"] * 1e3


@asynccontextmanager
async def peer(script: str, dsn: str) -> AsyncGenerator[Peer]:
    """Start a peer on a database of its own."""
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as admin:
        await admin.execute(f"CREATE DATABASE {script}".encode())  # a name of our own
    own = urlsplit(dsn)._replace(path=f"/{script}").geturl()
    process = await asyncio.create_subprocess_exec(
        *(str(_PYTHON), str(_FOLDER / f"{script}.py"), own, str(IN_FLIGHT)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        asked = Peer(process, dsn)
        await asked.line()
        yield asked
    finally:
        await process.communicate(b"")  # an end of input, at which it ends


async def measure(options: Options) -> Result:
    """Everybody by turns; who is not measured stands idle."""
    seconds = 1 if options.quick else 3
    spent: dict[str, list[float]] = {}
    async with server() as dsn, Ledger(Database(dsn)) as ledger, AsyncExitStack() as stack:
        way = Way(ledger)

        async def ours() -> float:
            async with Cpu(dsn) as cpu:
                told = await rate(way.once, in_flight=IN_FLIGHT, seconds=seconds)
            spent.setdefault("ours", []).append(cpu.spent_s / (told * seconds) * 1e3)
            return told

        cases = [Case("ours", ours)]
        for name, script in PEERS.items():
            asked = await stack.enter_async_context(peer(script, dsn))

            async def once(name: str = name, asked: Peer = asked) -> float:
                told, cpu_ms = await asked.round(seconds)
                spent.setdefault(name, []).append(cpu_ms)
                return told

            cases.append(Case(name, once))
        told = await interleaved(cases, options)
    best = max(PEERS, key=lambda name: told.figure(name).median)
    lines = [
        Line(
            f"ours over the fastest of them ({best})", told.ratio("ours", to=best), aim=at_least(4)
        )
    ]
    for name in ("ours", *PEERS):
        lines.append(Line(name, told.figure(name), "/s"))
        lines.append(
            Line(f"{name}, CPU an operation", Figure.of(spent[name][options.warm_up :]), "ms")
        )
    return Result(
        name="peers",
        about=f"record, do nothing, complete: {IN_FLIGHT} in flight, all on one server",
        lines=lines,
        notes=(_KEPT, "absurd-sdk is left out: its schema is not in its package."),
    )


if __name__ == "__main__":
    sys.exit(run(measure))

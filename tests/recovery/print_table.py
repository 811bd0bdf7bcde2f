"""Print the decision table with its counts, and check the invariants over the whole space.

Run as `python tests/recovery/print_table.py [--json]`; exits with 1 if anything does not hold.
"""

import argparse
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from recovery.case import Decision
from recovery.decide import TABLE, TABLE_VERSION, decide
from tests.recovery.space import INVARIANTS, SIZE, violations, walk

Report = dict[str, object]


def main() -> int:
    """Print the table; 1 if a row is never reached, a case has no row or an invariant fails."""
    parser = argparse.ArgumentParser(description="The decision table, over every case.")
    parser.add_argument("--json", action="store_true", help="for programs")
    as_json = parser.parse_args().json
    cases, said = _count()
    broken = [i.words for i in INVARIANTS if violations(i)]
    unreached = [row.number for row in TABLE if not cases[row.number]]
    report: Report = {
        "table_version": TABLE_VERSION,
        "rows": [
            {
                "row": row.number,
                "condition": row.words,
                "decision": sorted(said[row.number]),
                "cases": cases[row.number],
            }
            for row in TABLE
        ],
        "cases": cases.total(),
        "invariants": len(INVARIANTS),
        "broken": broken,
        "unreached": unreached,
    }
    if as_json:
        sys.stdout.write(json.dumps(report, indent=2) + "\n")
    else:
        _print(report, cases, said)
    return 1 if broken or unreached or cases.total() != SIZE else 0


def _count() -> tuple[Counter[int], dict[int, set[str]]]:
    cases = Counter[int]()
    said = defaultdict[int, set[str]](set)
    for _, weight, decision in walk(decide):
        cases[decision.row] += weight
        said[decision.row].add(_told(decision))
    return cases, said


def _told(decision: Decision) -> str:
    told = f"{decision.action} {decision.code}"
    told += f" → {decision.then}" if decision.then else ""
    return told + (f" + {decision.also}" if decision.also else "")


def _print(report: Report, cases: Counter[int], said: dict[int, set[str]]) -> None:
    table = Table(title=f"Decision table, version {TABLE_VERSION}; the first row that fits")
    table.add_column("row", justify="right")
    table.add_column("condition")
    table.add_column("decision")
    table.add_column("cases", justify="right")
    for row in TABLE:
        told = "\n".join(sorted(said[row.number]))
        table.add_row(str(row.number), row.words, told, f"{cases[row.number]:,}")
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(table)
    console.print(
        f"{cases.total():,} cases of {SIZE:,}, {len(TABLE)} rows, "
        f"{len(INVARIANTS)} invariants checked over all of them; "
        f"broken: {report['broken'] or 'none'}; never reached: {report['unreached'] or 'none'}"
    )


if __name__ == "__main__":
    sys.exit(main())

"""Who may do what, asked of a running server: one row an endpoint, one column a caller.

    python tests/http/roles.py [--json]

Exits with 1 if any answer is not what the rights say.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.http.matrix import CALLERS, Cell, cells
from tests.support.house import house_at
from tests.support.servers import ledger_database


async def asked() -> Sequence[Cell]:
    """Ask everything of one server."""
    with ledger_database() as dsn, tempfile.TemporaryDirectory() as home:
        async with house_at(dsn, Path(home)) as house:
            return list(await cells(house))


def as_table(found: Sequence[Cell]) -> Table:
    """Statuses; what is not as it must be is marked."""
    table = Table(title=f"{len(found)} answers, {sum(not c.right for c in found)} wrong", box=None)
    table.add_column("endpoint")
    for caller in CALLERS:
        table.add_column(caller.replace(" token", "\ntoken"), justify="right")
    for name in dict.fromkeys(cell.endpoint for cell in found):
        row = [cell for cell in found if cell.endpoint == name]
        table.add_row(name, *(str(c.status) if c.right else f"[red]{c.status}![/]" for c in row))
    return table


def main() -> int:
    """Ask, print, and say with the exit code how it went."""
    parser = argparse.ArgumentParser(description="Every endpoint and every role.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    wants_json: bool = parser.parse_args().json
    found = asyncio.run(asked())
    if wants_json:
        json.dump([{**asdict(c), "right": c.right} for c in found], sys.stdout, indent=2)
    else:
        Console(width=200).print(as_table(found))
    return 0 if found and all(cell.right for cell in found) else 1


if __name__ == "__main__":
    sys.exit(main())

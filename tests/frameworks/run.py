"""`make frameworks`: agents of three frameworks, suspended, killed, resumed by another process.

Real frameworks, a scripted model, a real serving process, a worker and the sandbox. Prints one
table; exits with 1 when something is not as it should be.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a file, from anywhere
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "clients" / "python"))

from ledger.postgres.embedded import acquire
from ledger.postgres.migrate import migrate
from tests.frameworks.stage import PYTHON, stage_at
from tests.frameworks.stories import EXAMPLES, STORIES, Played
from tests.support.postgres import FAST, named, new_database, new_home

WIDTH = 110
"""Of the table, where nobody looks at it in a terminal."""

Name = tuple[str, str]


async def play(admin_dsn: str, names: list[Name], console: Console) -> dict[Name, Played | str]:
    """Play stories, each on a ledger of its own; a text where one could not be played."""
    played: dict[Name, Played | str] = {}
    for framework, story in names:
        with new_database(admin_dsn) as dsn, tempfile.TemporaryDirectory() as folder:
            await migrate(dsn)
            try:
                async with stage_at(dsn, Path(folder)) as stage:
                    played[framework, story] = await STORIES[story](stage, EXAMPLES[framework])
            except (AssertionError, TimeoutError) as error:
                played[framework, story] = f"{type(error).__name__}: {error}"
        console.print(f"{framework}, {story}: {_result(played[framework, story])}")
    return played


def _result(one: Played | str) -> str:
    return "ok" if isinstance(one, Played) and one.good else "FAILED"


def _table(played: dict[Name, Played | str]) -> Table:
    table = Table(title="Agents resumed by another process; effects are the provider's own count")
    for column in ("framework", "story", "suspended", "killed", "resumed"):
        table.add_column(column)
    table.add_column("effects", justify="right")
    table.add_column("told to the model")
    table.add_column("result")
    for (framework, story), one in played.items():
        if isinstance(one, str):
            table.add_row(framework, story, "", "", "", "", one, "FAILED")
            continue
        steps = ("yes" if step else "NO" for step in (one.suspended, one.killed, one.resumed))
        effects = f"{one.effects} of {one.wanted_effects}"
        table.add_row(framework, story, *steps, effects, one.told, _result(one))
    return table


def main() -> int:
    """Read the command line, play, print."""
    parser = argparse.ArgumentParser(description="Agents of three frameworks, killed and resumed.")
    parser.add_argument("--only", choices=list(EXAMPLES), help="one framework")
    parser.add_argument("--story", choices=list(STORIES), help="one story")
    parser.add_argument("--json", action="store_true", help="for programs")
    options = parser.parse_args()
    if not PYTHON.exists():
        sys.stderr.write(f"{PYTHON} is missing; `make frameworks` makes it.\n")
        return 2
    names = [
        (framework, story)
        for framework in EXAMPLES
        for story in STORIES
        if options.only in {None, framework} and options.story in {None, story}
    ]
    console = Console(stderr=options.json, width=None if sys.stdout.isatty() else WIDTH)
    with new_home() as home, acquire(home, settings=FAST) as engine:
        admin = named(engine.server.dsn, "postgres")
        played = asyncio.run(play(admin, names, console))
    failed = sum(_result(one) != "ok" for one in played.values())
    if options.json:
        told = {
            f"{framework}, {story}": one if isinstance(one, str) else one.as_json()
            for (framework, story), one in played.items()
        }
        sys.stdout.write(
            json.dumps({"cases": len(told), "failed": failed, **told}, indent=2) + "\n"
        )
    else:
        console.print(_table(played))
        console.print(f"{len(played)} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

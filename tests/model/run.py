"""`make model`: explore the protocol completely, and see that each protection is needed.

    python -m tests.model.run [--json] [--stories]

Exits with 1 if a promise is broken, a state is stuck, the exploration is not complete, or a
protection can be removed without a counterexample.
"""

import argparse
import json
import sys
import time
from dataclasses import replace
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.model.explore import Explored, explore
from tests.model.promise import ALWAYS, OLDER_PICTURE, PROTECTIONS, SETTINGS, WHEN_SENT


def without_each() -> dict[str, Explored]:
    """What is found when a protection is removed, one at a time."""
    by_name = {setting.name: setting for setting in SETTINGS}
    return {
        protection: explore(replace(by_name[name], without=protection))
        for protection, name in PROTECTIONS.items()
    }


def as_json(whole: list[Explored], removed: dict[str, Explored], seconds: float) -> dict[str, Any]:
    """For programs."""
    return {
        "seconds": round(seconds, 1),
        "explored": [
            {
                "setting": found.setting.name,
                "states": found.states,
                "transitions": found.transitions,
                "depth": found.depth,
                "sendings": found.sendings,
                "settled": found.settled,
                "complete": found.complete,
                "stuck": found.stuck,
                "broken": dict(found.broken),
            }
            for found in whole
        ],
        "removed": {
            protection: {"breaks": list(found.broken), "story": list(found.story)}
            for protection, found in removed.items()
        },
    }


def _print(whole: list[Explored], removed: dict[str, Explored], *, stories: bool) -> None:
    console = Console(width=None if sys.stdout.isatty() else 140)
    table = Table(title="every state of the protocol", title_justify="left")
    for heading in ("", "states", "transitions", "depth", "sendings", "settled", "stuck", ""):
        table.add_column(heading, justify="right" if heading else "left")
    for found in whole:
        figures = (found.states, found.transitions, found.depth, found.sendings, found.settled)
        result = "complete" if found.complete else "[bold red]not complete[/]"
        cells = [f"{figure:,}" for figure in (*figures, found.stuck)]
        table.add_row(found.setting.name, *cells, result)
    console.print(table)
    checked = Table(title="what was checked", title_justify="left")
    for heading in ("promise", "checked", "broken"):
        checked.add_column(heading, justify="left" if heading == "promise" else "right")
    for words, times in _checks(whole).items():
        checked.add_row(words, f"{times:,}", str(sum(found.broken[words] for found in whole)))
    console.print(checked)
    needed = Table(title="without a protection: the shortest story", title_justify="left")
    for heading in ("removed", "breaks", "after"):
        needed.add_column(heading)
    for protection, found in removed.items():
        broken = next(iter(found.broken), "[bold red]nothing[/]")
        told = "\n".join(found.story) if stories else f"{len(found.story)} moves"
        needed.add_row(protection, broken, told)
    console.print(needed)
    for found in whole:
        for number, words in enumerate(found.story, start=1):
            console.print(f"{found.setting.name}: {number}. {words}")


def _checks(whole: list[Explored]) -> dict[str, int]:
    states = sum(found.states for found in whole)
    sendings = sum(found.sendings for found in whole)
    return {
        **dict.fromkeys(ALWAYS, states),
        **dict.fromkeys((OLDER_PICTURE, *WHEN_SENT), sendings),
        "truth or a question can be reached by fair moves": states,
    }


def main() -> int:
    """Explore, print, and say with the exit code how it went."""
    parser = argparse.ArgumentParser(description="Explore the protocol completely.")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("--stories", action="store_true", help="tell every counterexample")
    asked = parser.parse_args()
    began = time.monotonic()
    whole = [explore(setting) for setting in SETTINGS]
    removed = without_each()
    if asked.json:
        told = as_json(whole, removed, time.monotonic() - began)
        sys.stdout.write(json.dumps(told, indent=2) + "\n")
    else:
        _print(whole, removed, stories=asked.stories)
    fine = all(found.complete and not found.broken and not found.stuck for found in whole)
    return 0 if fine and all(found.broken for found in removed.values()) else 1


if __name__ == "__main__":
    sys.exit(main())

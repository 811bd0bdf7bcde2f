"""`make simulate`: seeded worlds against the real ledger, dispatcher and recovery.

Prints progress, the story of each world that broke a promise, the rows of the decision table
that were reached, and the figures. Exits with 1 on a violation.
"""

import argparse
import json
import logging
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a file, from anywhere

from tests.simulation.judge import Verdict, judge
from tests.simulation.played import Played
from tests.simulation.report import Sum, print_tables, story
from tests.simulation.server import Server, new_server
from tests.simulation.world import play

STORIES_MOST = 3
WORLDS = 200


Heard = Callable[[Played, Verdict], None]


def simulate(seeds: Iterable[int], server: Server, *, within_s: float, heard: Heard) -> Sum:
    """Play and judge one world after another; stops early when the time is over."""
    total = Sum()
    began = time.monotonic()
    for seed in seeds:
        played = play(seed, server)
        verdict = judge(played)
        total.add(verdict)
        heard(played, verdict)
        if time.monotonic() - began > within_s:
            break
    return total


def main() -> int:
    """Run; 1 on a violation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, help="how many worlds (200)")
    parser.add_argument(
        "--seed", type=int, help="the first seed; alone: that world, with its story"
    )
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)  # what the code logs under faults is no news here
    alone = given.seed is not None and given.seeds is None
    first = given.seed if given.seed is not None else 1
    seeds = range(first, first + (1 if alone else given.seeds or WORLDS))
    errors, out = Console(stderr=True), Console()
    began = time.monotonic()
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]:.1f} worlds/s"),
        TextColumn("[red]{task.fields[wrong]}[/]"),
        TimeElapsedColumn(),
    )
    with new_server() as server, Progress(*columns, console=errors) as progress:
        task = progress.add_task("", total=len(seeds), speed=0.0, wrong="")
        wrong: list[int] = []

        def heard(played: Played, verdict: Verdict) -> None:
            if verdict.violations:
                wrong.append(played.seed)
            if alone or (verdict.violations and len(wrong) <= STORIES_MOST):
                errors.print(story(played, verdict), markup=False, highlight=False, soft_wrap=True)
            progress.advance(task)
            speed = progress.tasks[0].completed / (time.monotonic() - began)
            progress.update(task, speed=speed, wrong=f"wrong: {wrong}" if wrong else "")

        total = simulate(seeds, server, within_s=given.minutes * 60, heard=heard)
        seconds = time.monotonic() - began
    if given.json:
        sys.stdout.write(json.dumps(total.as_json(seconds), indent=1) + "\n")
    else:
        print_tables(total, seconds, out)
    return 1 if total.violations else 0


if __name__ == "__main__":
    sys.exit(main())

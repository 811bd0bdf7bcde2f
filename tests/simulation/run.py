"""`make simulate`: seeded worlds against the real ledger, approval, dispatcher and recovery.

Prints progress, the story of each world that broke a promise, the rows of the decision table
that were reached, and the figures. Exits with 1 on a violation.
"""

import argparse
import json
import logging
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a file, from anywhere

from tests.simulation.jobs import Seen, simulate
from tests.simulation.report import print_tables
from tests.simulation.server import new_engine

STORIES_MOST = 3
WORLDS = 200


def main() -> int:
    """Run; 1 on a violation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, help="how many worlds (200)")
    parser.add_argument(
        "--seed", type=int, help="the first seed; alone: that world, with its story"
    )
    parser.add_argument("--jobs", type=int, default=1, help="how many processes (1)")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)  # what the code logs under faults is no news here
    alone = given.seed is not None and given.seeds is None
    first = given.seed if given.seed is not None else 1
    seeds = range(first, first + (1 if alone else given.seeds or WORLDS))
    errors, out = Console(stderr=True), Console()
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]:.1f} worlds/s"),
        TextColumn("[red]{task.fields[wrong]}[/]"),
        TimeElapsedColumn(),
    )
    with new_engine() as dsn, Progress(*columns, console=errors) as progress:
        task = progress.add_task("", total=len(seeds), speed=0.0, wrong="")
        wrong: list[int] = []
        began = time.monotonic()

        def heard(seen: Seen) -> None:
            if seen.verdict.violations:
                wrong.append(seen.verdict.seed)
            if seen.story is not None and (alone or len(wrong) <= STORIES_MOST):
                errors.print(seen.story, markup=False, highlight=False, soft_wrap=True)
            progress.advance(task)
            speed = progress.tasks[0].completed / (time.monotonic() - began)
            progress.update(task, speed=speed, wrong=f"wrong: {wrong}" if wrong else "")

        total = simulate(
            seeds,
            dsn,
            jobs=min(given.jobs, len(seeds)),
            within_s=given.minutes * 60,
            told=alone,
            heard=heard,
        )
        seconds = time.monotonic() - began
    if given.json:
        sys.stdout.write(json.dumps(total.as_json(seconds), indent=1) + "\n")
    else:
        print_tables(total, seconds, out)
    return 1 if total.violations else 0


if __name__ == "__main__":
    sys.exit(main())

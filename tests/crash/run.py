"""`make crash`: workers killed and stopped at every step, under every fault of the provider.

Prints progress, the story of each failed case with the command that plays it again, and one
table. Exits with 1 on a violation.
"""

import argparse
import asyncio
import json
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a file, from anywhere

from tests.crash.cases import Case, every, matrix, named, pairwise, share_of_pairs
from tests.crash.judge import Verdict, judge
from tests.crash.lane import Lane, new_lane, new_server
from tests.crash.play import play
from tests.crash.report import print_table, story, summary

SEED = 1
PAIRWISE = 60
WIDTH = 130
"""Of the table where nobody's terminal limits it."""

Heard = Callable[[Verdict], None]


def play_all(cases: Sequence[Case], *, jobs: int, seed: int, heard: Heard) -> list[Verdict]:
    """Play cases on several lanes at once; `heard` is told of each as it ends."""
    with new_server() as server:

        async def work() -> list[Verdict]:
            left, verdicts = deque(cases), list[Verdict]()

            async def lane_work() -> None:
                async with new_lane(server) as lane:
                    while left:
                        verdict = await _one(left.popleft(), lane, seed)
                        verdicts.append(verdict)
                        heard(verdict)

            async with asyncio.TaskGroup() as group:
                for _ in range(min(jobs, len(cases))):
                    group.create_task(lane_work())
            return verdicts

        return asyncio.run(work())


async def _one(case: Case, lane: Lane, seed: int) -> Verdict:
    return judge(await play(case, lane, seed))


def again(case: Case, seed: int) -> str:
    """The command that plays a case again."""
    return f"python tests/crash/run.py --only {case.name} --seed {seed}"


def main() -> int:
    """Read the command line, play, print."""
    parser = argparse.ArgumentParser(description="Kill matrix.")
    parser.add_argument("--all", action="store_true", help="the whole matrix")
    parser.add_argument("--pairwise", type=int, metavar="N", help="N cases with the most pairs")
    parser.add_argument("--seed", type=int, default=SEED, help="of the selection and random steps")
    parser.add_argument("--only", nargs="+", metavar="CASE", help="cases, or parts of their names")
    parser.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 1), help="lanes")
    parser.add_argument("--json", action="store_true", help="for programs")
    options = parser.parse_args()
    shown = sys.stderr if options.json else sys.stdout
    console = Console(file=shown, width=None if shown.isatty() else WIDTH)
    cases = _chosen(options)
    share = share_of_pairs(cases, every())
    console.print(
        f"{len(cases)} cases, {share:.0%} of all pairs of conditions, seed {options.seed}"
    )
    began = time.monotonic()
    count = 0

    def heard(verdict: Verdict) -> None:
        nonlocal count
        count += 1
        mark = "FAILED" if verdict.faults else "asked" if verdict.questions else "ok"
        name, took_s = verdict.played.case.name, verdict.played.took_s
        console.print(f"{count:4}/{len(cases)} {mark:6} {took_s:5.1f} s  {name}", highlight=False)
        if verdict.faults:
            told = story(verdict, again(verdict.played.case, options.seed))
            console.print(told, markup=False, highlight=False, soft_wrap=True)

    verdicts = play_all(cases, jobs=options.jobs, seed=options.seed, heard=heard)
    told = summary(verdicts, time.monotonic() - began)
    if options.json:
        sys.stdout.write(json.dumps(told, indent=2) + "\n")
    else:
        print_table(verdicts, told, console)
    return 1 if any(verdict.faults for verdict in verdicts) else 0


def _chosen(options: argparse.Namespace) -> list[Case]:
    if options.only:
        exact = [name for name in options.only if name.count("/") == 4]
        parts = [name for name in options.only if name.count("/") != 4]
        found = [c for c in every() if parts and all(part in c.name for part in parts)]
        return [*(named(name) for name in exact), *found]
    if options.all:
        return matrix()
    return pairwise(every(), options.pairwise or PAIRWISE, options.seed)


if __name__ == "__main__":
    sys.exit(main())

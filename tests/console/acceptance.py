"""The 25 points by which the console is accepted, and the tests that show each of them.

`python -m tests.console.acceptance` runs them and prints one table, a line for each point. A test
says in the first line of its docstring what it shows: `Acceptance 12 and 16: …`.
"""

import contextlib
import io
import re
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest
from rich.console import Console
from rich.table import Table

from tests.tables.run import Behaviour, Collector

FOLDER: Final = Path(__file__).parent
POINTS: Final[Mapping[int, str]] = MappingProxyType(
    {
        1: "38 refunds approved on a phone, in two pages: exactly 38 operations",
        2: "The button that decides is never where Approve… was",
        3: "A double click is one decision with one result page",
        4: "Back after deciding: the decision, no buttons",
        5: "Two tabs, two people: the loser reads who and when",
        6: "A version changes while reading: told, nothing decided, the difference shown",
        7: "A wrong count: nothing decided, text kept, focus on the field",
        8: "An unanswered repeat: no confirmation, not even by its address",
        9: "Groups of any rows add up to the totals",
        10: "Stopped plus left is everything, sums too",
        11: "Two people are two people; the requester is neither",
        12: "A wrong reference is refused with what differs; the right one closes",
        13: "Send again sends nothing without a second signature",
        14: "A late webhook between reading and answering: nothing recorded",
        15: "Three at once, one contradicted: two close, one is named",
        16: "All of it without scripts",
        17: "GET and HEAD on every address change nothing",
        18: "Offline: said and locked; online again, it works",
        19: "Now changes within 5 s; focus, text and open answers stay; a pause holds",
        20: "axe finds nothing: every page and state, both themes, three widths",
        21: "By keyboard alone; no key decides; single keys can be switched off",
        22: "No sideways scrolling at 320 px or 200 % text; targets of 24 px",
        23: "Hostile text in every field stays text",
        24: "Nothing leaves the origin; nothing inline in any answer",
        25: "A ledger of 100,000 costs a page what one of 1,000 costs",
    }
)
_SAID: Final = re.compile(r"^Acceptance (\d+(?:(?:, | and |, and )\d+)*):")


def shown_by(told: str) -> frozenset[int]:
    """Which points a test shows, by the first line of its docstring."""
    said = _SAID.match(told)
    return frozenset(map(int, re.findall(r"\d+", said[1]))) if said else frozenset()


class _Only:
    """Leaves out the tests that show none of the points."""

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Before the collector notes what there is."""
        chosen = [item for item in items if shown_by(_told(item))]
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = chosen


def _told(item: pytest.Item) -> str:
    doc = getattr(getattr(item, "function", None), "__doc__", None) or ""
    return doc.strip().partition("\n")[0]


def prove() -> tuple[Collector, float]:
    """Run the tests in this process; pytest's own words are dropped."""
    collector = Collector()
    began = time.monotonic()
    with contextlib.redirect_stdout(io.StringIO()) as said:
        code = pytest.main(["-q", str(FOLDER)], plugins=[_Only(), collector])
    if code not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED} and not collector.troubles:
        collector.troubles.append(f"pytest ended with {code!r}\n{said.getvalue()}")
    return collector, time.monotonic() - began


def by_point(behaviours: Sequence[Behaviour]) -> Mapping[int, Sequence[Behaviour]]:
    """The tests of each point, those without any included."""
    return {
        point: [each for each in behaviours if point in shown_by(each.told)] for point in POINTS
    }


def as_table(points: Mapping[int, Sequence[Behaviour]], seconds: float) -> tuple[Table, int]:
    """The table, and how many points do not hold."""
    table = Table(title_justify="left")
    table.add_column("", justify="right")
    table.add_column("what holds")
    table.add_column("tests", justify="right")
    table.add_column("cases", justify="right")
    table.add_column("result")
    broken = 0
    for point, tests in points.items():
        failed = sum(each.failed for each in tests)
        passed = sum(each.passed for each in tests)
        holds = passed > 0 and not failed and not any(each.skipped for each in tests)
        broken += not holds
        result = "[green]holds[/]" if holds else "[bold red]NO TEST[/]"
        if tests and not holds:
            result = "[bold red]FAILED[/]" if failed else "[bold red]SKIPPED[/]"
        table.add_row(str(point), POINTS[point], str(len(tests)), str(passed + failed), result)
    table.title = f"e2e: {len(points)} points, {broken} do not hold, {seconds:.1f} s"
    return table, broken


def main() -> int:
    """Run, print, and say with the exit code how it went."""
    collector, seconds = prove()
    table, broken = as_table(by_point(list(collector.behaviours.values())), seconds)
    Console().print(table)
    sys.stdout.flush()
    for trouble in collector.troubles:
        sys.stderr.write(trouble + "\n\n")
    return 1 if broken or collector.troubles else 0


if __name__ == "__main__":
    sys.exit(main())

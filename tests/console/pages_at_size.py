"""Acceptance 25: pages of a big ledger cost what those of a small one cost.

`python -m tests.console.pages_at_size 100000 [--json]` fills two ledgers, one with 1,000 operations
and one with so many and 2,000 questions, opens every page of both in turns, and prints one table:
the queries of each page, its quickest time at both sizes, and their ratio. It fails where a page
asks more often, or takes more than twice as long; a page below 30 ms at both sizes is quick enough.
Files are no pages: they grow with what they hold. The dashboards of a longer time look at more of a
bigger ledger, up to a bound, and are held to half a second.
"""

import argparse
import asyncio
import json
import re
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from rich.console import Console
from rich.table import Table

from sidecar.access.roles import Role
from sidecar.console.page import Page
from sidecar.console.table import PAGES
from tests.console.filling import Filled, filled
from tests.console.people import Reception, Visitor
from tests.support.house import house_at
from tests.support.servers import database_server, migrated

SMALL: Final = (1_000, 120, 60)
"""Operations, questions, waiting ones: as many as fill every list's page."""
QUESTIONS: Final = 2_000
WAITING: Final = 500
ROUNDS: Final = 9
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_FOUND: Final = 200
_NOT_FOUND: Final = 404
AGAIN: Final = 3
"""How often a page at fault is measured anew, at both sizes."""
MOST: Final = 2.0
QUICK_MS: Final = 30.0
"""A page that is quicker than this at both sizes is quick enough, whatever its ratio."""
FILES: Final = frozenset({"/operations/export", "/audit/export"})
NOTHING: Final = frozenset({"/escalations/answered/", "/policy/would"})
"""Pages that have nothing to show here, and say so: they must do so at any size."""
LONGER: Final = ("/dashboards?range=7d", "/dashboards?range=30d")
"""A longer time holds more of a bigger ledger: up to what is looked at, and within `LONGER_MS`."""
LONGER_MS: Final = 500.0
MORE: Final = (
    *LONGER,
    *("/operations?state=failed", "/operations?state=confirmed", "/operations?state=doubt"),
    *("/operations?q=re_copy_7", "/operations?q=12.00", "/operations?q=ch_copy_9&since=7"),
    *("/escalations?show=closed", "/escalations?show=nobody", "/approvals?show=decided"),
)


@dataclass(frozen=True, slots=True)
class Seen:
    """One page, opened several times."""

    path: str
    status: int
    queries: tuple[str, ...]
    ms: float
    """The quickest: what the page costs, not what the machine was busy with."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One page at both sizes."""

    page: str
    queries: int
    small_ms: float
    big_ms: float
    ratio: float
    verdict: str
    fault: bool


Opened = tuple[Filled, Visitor]
"""A ledger of copies, and somebody who reads it."""


def paths(made: Filled) -> list[str]:
    """Every page of the table, with something to show, and some searches."""
    ids = {
        "/operations/": made.confirmed,
        "/escalations/": made.question["id"],
        "/approvals/": made.proposal,
    }
    together = {
        "account": made.question["account"],
        "reason": made.question["reasons"][0],
        "first": made.question["id"],
    }
    found: list[str] = []
    for entry in PAGES:
        if not isinstance(entry, Page):
            continue
        path = entry.path
        if "{" in path:
            [known] = [of for begin, of in ids.items() if path.startswith(begin)]
            path = path.replace("{id}", str(known))
        if path == "/escalations/together":
            path = f"{path}?{urlencode(together)}"
        assert "{" not in path, f"no example for {entry.path}"
        found.append(path)
    return [*found, *MORE]


async def opened(at: Opened, path: str) -> Seen:
    """Open a page once."""
    made, who = at
    console = made.house.serving.console
    console.seen = []
    began = time.perf_counter()
    answer = await who.get(f"/console{path}")
    ms = (time.perf_counter() - began) * 1_000
    queries = console.seen[-1][1] if console.seen else ()
    console.seen = None
    return Seen(path, answer.status_code, queries, ms)


async def visit(made: Filled, who: Visitor, wanted: Sequence[str]) -> list[Seen]:
    """Open each page once."""
    return [await opened((made, who), path) for path in wanted]


async def in_turns(
    ledgers: tuple[Opened, Opened], pages: Sequence[tuple[Seen, Seen]]
) -> list[tuple[Seen, Seen]]:
    """Open each page at both sizes by turns, so that a busy machine slows both alike."""
    quickest = list(pages)
    for _ in range(ROUNDS):
        for place, pair in enumerate(quickest):
            seen = [await opened(at, one.path) for at, one in zip(ledgers, pair, strict=True)]
            quickest[place] = (_quicker(pair[0], seen[0]), _quicker(pair[1], seen[1]))
    return quickest


def _quicker(one: Seen, other: Seen) -> Seen:
    """What it answered last, in the quickest time."""
    return replace(other, ms=min(one.ms, other.ms))


@asynccontextmanager
async def made_at(dsn: str, home: Path) -> AsyncGenerator[Opened]:
    """A small ledger, and somebody who reads it."""
    async with house_at(dsn, home) as house:
        made = await filled(house)
        await made.grow(*SMALL)
        yield made, await Reception(house).person(Role.ADMIN, "ola")


def compared(small: Seen, big: Seen) -> Compared:
    """What becomes of a page as its ledger grows."""
    verdict, fault = _judged(small, big)
    return Compared(
        page=_UUID.sub("{id}", small.path or "/"),
        queries=len(big.queries),
        small_ms=round(small.ms, 1),
        big_ms=round(big.ms, 1),
        ratio=round(big.ms / small.ms, 2),
        verdict=verdict,
        fault=fault,
    )


def _judged(small: Seen, big: Seen) -> tuple[str, bool]:
    """A verdict, and whether it is a fault."""
    nothing = small.status == _NOT_FOUND and small.path.startswith(tuple(NOTHING))
    if big.status != small.status or (big.status != _FOUND and not nothing):
        return f"answers {big.status}, and {small.status} when small", True
    if small.path in FILES:
        return "a file", False
    if big.queries != small.queries:
        return f"asks {len(big.queries)} times instead of {len(small.queries)}", True
    return _slow(small, big)


def _slow(small: Seen, big: Seen) -> tuple[str, bool]:
    """A verdict on its times alone."""
    if big.ms <= MOST * small.ms:
        return "ok", False
    if max(small.ms, big.ms) < QUICK_MS:
        return f"ok, below {QUICK_MS:g} ms", False
    if small.path in LONGER and big.ms <= LONGER_MS:
        return f"ok, a longer time: below {LONGER_MS:g} ms", False
    return f"over {MOST:g} times", True


async def measured(small: Opened, big: Opened) -> list[Compared]:
    """Every page; those that look at fault are measured again, at both sizes."""
    first = [await visit(*at, paths(at[0])) for at in (small, big)]
    pairs = await in_turns((small, big), list(zip(*first, strict=True)))
    for _ in range(AGAIN):
        places = [place for place, pair in enumerate(pairs) if compared(*pair).fault]
        again = await in_turns((small, big), [pairs[place] for place in places])
        for place, pair in zip(places, again, strict=True):
            pairs[place] = pair
    return [compared(*pair) for pair in pairs]


async def run(dsns: tuple[str, str], home: Path, rows: int) -> list[Compared]:
    """Fill a small ledger and a big one, and compare."""
    async with AsyncExitStack() as stack:
        small, big = [
            await stack.enter_async_context(made_at(dsn, home / str(place)))
            for place, dsn in enumerate(dsns)
        ]
        operations, questions, waiting = SMALL
        await big[0].grow(rows - operations, max(0, QUESTIONS - questions), WAITING - waiting)
        return await measured(small, big)


def as_table(found: Sequence[Compared], rows: int) -> Table:
    """One row a page; faults are marked."""
    title = f"{len(found)} pages, {sum(one.fault for one in found)} at fault"
    table = Table(title=title, box=None)
    table.add_column("page", no_wrap=True, max_width=58)
    for name in ("queries", "ms at 1,000", f"ms at {rows:,}", "ratio"):
        table.add_column(name, justify="right")
    table.add_column("verdict")
    for one in found:
        table.add_row(
            *(one.page, str(one.queries), f"{one.small_ms:.1f}", f"{one.big_ms:.1f}"),
            f"{one.ratio:.2f}",
            f"[red]{one.verdict}[/]" if one.fault else one.verdict,
        )
    return table


def main() -> int:
    """Run it against an embedded engine of its own; 1 if a page is at fault."""
    parser = argparse.ArgumentParser(description="Every page of the console on a big ledger.")
    parser.add_argument("rows", type=int, nargs="?", default=100_000)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    asked = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        database_server() as server,
        migrated(server) as small,
        migrated(server) as big,
    ):
        found = asyncio.run(run((small, big), Path(folder), asked.rows))
    if asked.json:
        json.dump([asdict(one) for one in found], sys.stdout, indent=2)
    else:
        Console(width=140).print(as_table(found, asked.rows))
    return 1 if any(one.fault for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())

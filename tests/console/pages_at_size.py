"""Acceptance 25: pages of a big ledger cost what those of a small one cost.

`python -m tests.console.pages_at_size 100000` fills a ledger with so many operations and 2,000
questions, opens every page, and prints one table: the queries of each page, its time at 1,000 and
at the full size, and their ratio. It fails where a page asks more often, or takes more than twice
as long. Files are no pages: they grow with what they hold.
"""

import asyncio
import re
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from sidecar.access.roles import Role
from sidecar.console.page import Page
from sidecar.console.table import PAGES
from tests.console.filling import Filled, filled
from tests.console.people import Reception, Visitor
from tests.support.house import house_at
from tests.support.servers import ledger_database

SMALL: Final = (1_000, 120, 60)
"""Operations, questions, waiting ones: as many as fill every list's page."""
QUESTIONS: Final = 2_000
WAITING: Final = 500
ROUNDS: Final = 9
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_FOUND: Final = 200
_NOT_FOUND: Final = 404
MOST: Final = 2.0
FLOOR_MS: Final = 4.0
"""A difference below this is the machine's, not the page's."""
FILES: Final = frozenset({"/operations/export", "/audit/export"})
NOTHING: Final = frozenset({"/escalations/answered/", "/policy/would"})
"""Pages that have nothing to show here, and say so: they must do so at any size."""
MORE: Final = (
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


async def visit(made: Filled, who: Visitor, wanted: Sequence[str], rounds: int) -> list[Seen]:
    """Open each page several times."""
    console = made.house.serving.console
    found: list[Seen] = []
    for path in wanted:
        times: list[float] = []
        status = 0
        console.seen = []
        for _ in range(rounds):
            began = time.perf_counter()
            answer = await who.get(f"/console{path}")
            times.append((time.perf_counter() - began) * 1_000)
            status = answer.status_code
        queries = console.seen[-1][1] if console.seen else ()
        console.seen = None
        found.append(Seen(path, status, queries, min(times)))
    return found


@asynccontextmanager
async def made_at(dsn: str, home: Path) -> AsyncGenerator[tuple[Filled, Visitor]]:
    """A small ledger, and somebody who reads it."""
    async with house_at(dsn, home) as house:
        made = await filled(house)
        await made.grow(*SMALL)
        yield made, await Reception(house).person(Role.ADMIN, "ola")


def judged(small: Seen, big: Seen) -> str:
    """What is wrong with a page; empty where nothing is."""
    nothing = small.status == _NOT_FOUND and small.path.startswith(tuple(NOTHING))
    if big.status != small.status or (big.status != _FOUND and not nothing):
        return f"answers {big.status}"
    if small.path in FILES:
        return ""
    if big.queries != small.queries:
        return f"asks {len(big.queries)} times instead of {len(small.queries)}"
    if big.ms > MOST * small.ms and big.ms - small.ms > FLOOR_MS:
        return f"over {MOST:g} times"
    return ""


def told(small: Sequence[Seen], big: Sequence[Seen], rows: int) -> int:
    """Print the table; how many pages are at fault."""
    out, faults = sys.stdout, 0
    out.write(f"{'page':<58}{'queries':>8}{'ms at 1,000':>13}{f'ms at {rows:,}':>15}{'ratio':>8}\n")
    for one, other in zip(small, big, strict=True):
        fault = judged(one, other)
        faults += bool(fault)
        note = fault or ("(a file)" if one.path in FILES else "")
        name = _UUID.sub("{id}", one.path or "/")[:56]
        out.write(
            f"{name:<58}{len(other.queries):>8}{one.ms:>13.1f}{other.ms:>15.1f}"
            f"{other.ms / one.ms:>8.2f}  {note}\n"
        )
    out.write(f"{len(big)} pages, {faults} at fault\n")
    return faults


async def run(dsn: str, home: Path, rows: int) -> int:
    """Measure small, grow, measure big."""
    async with made_at(dsn, home) as (made, who):
        wanted = paths(made)
        await visit(made, who, wanted, 2)
        small = await visit(made, who, wanted, ROUNDS)
        operations, questions, waiting = SMALL
        await made.grow(rows - operations, max(0, QUESTIONS - questions), WAITING - waiting)
        await visit(made, who, wanted, 2)
        big = await visit(made, who, wanted, ROUNDS)
    return told(small, big, rows)


def main() -> int:
    """Run it against an embedded engine of its own."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder, ledger_database() as dsn:
        return 1 if asyncio.run(run(dsn, Path(folder) / "home", rows)) else 0


if __name__ == "__main__":
    sys.exit(main())

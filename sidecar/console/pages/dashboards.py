"""Dashboards: better or worse than before? Pictures of a range, with their source and its age."""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ledger.postgres.snapshot import Snapshot
from sidecar.access.roles import Right
from sidecar.console.overseeing.panels_said import Section, sections_of
from sidecar.console.page import Call, Page, Shown, Table
from telemetry.panels.model import Fallback, Range, Source
from telemetry.panels.reading import PanelsUnreachable

_BEHIND_S: Final = 60.0
"""A copy that is this far behind is said to be."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a source answered."""

    source: Source
    fallback: Fallback | None
    read_at: datetime
    behind_s: float | None
    """`None`: not worth a word."""
    cut: bool
    step_s: float
    sections: tuple[Section, ...]

    @property
    def empty(self) -> bool:
        """Nothing happened."""
        return not any(section.panels for section in self.sections)


@dataclass(frozen=True, slots=True)
class DashboardsView:
    """The page."""

    span: Range
    read: Read | None
    """`None`: no source answered."""
    asked_at: datetime


async def gather(call: Call) -> Read | None:
    """Ask the sources and draw, before the page's snapshot begins: it must not wait for them."""
    try:
        found = await call.doors.watch.panels.read(_span(call))
    except PanelsUnreachable:
        return None
    return Read(
        *(found.source, found.fallback, found.read_at),
        behind_s=found.behind_s if found.behind_s >= _BEHIND_S else None,
        cut=found.cut,
        step_s=found.window.step.total_seconds(),
        sections=await asyncio.to_thread(sections_of, found, call.reader),
    )


async def show(call: Call, now: Snapshot) -> Shown:
    """The page."""
    read: Read | None = call.gathered
    view = DashboardsView(_span(call), read, now.at)
    status = 503 if read is None else 200
    return Shown("dashboards.html", call.say("Dashboards"), view, status, nav="dashboards")


def _span(call: Call) -> Range:
    wanted = call.query.get("range", Range.DAY.value)
    if wanted not in set(Range):
        raise call.lost()
    return Range(wanted)


TABLE: Final[Table] = (Page(path="/dashboards", right=Right.OVERSEE, show=show, gather=gather),)

"""Escalations: questions to people, by what is lost first; whose they are; and those answered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from ledger.model import Money
from ledger.postgres.snapshot import Snapshot
from sidecar.access.roles import Right
from sidecar.console.deeds import money_of
from sidecar.console.escalating.questions import Cause, causes_of, name_of, why
from sidecar.console.page import Call, Page, Shown, Table

SHOWN: Final = 100
"""Questions on one page: as many as can be answered together."""


class Tab(StrEnum):
    """Which questions."""

    OPEN = "open"
    NOBODY = "nobody"
    MINE = "mine"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Answered:
    """A question that was answered."""

    id: UUID
    name: str
    why: str
    code: str
    money: Money | None
    in_doubt: bool
    opened_at: datetime
    closed_at: datetime
    closed_by: str
    verdict: str
    note: str


@dataclass(frozen=True, slots=True)
class EscalationsView:
    """One page of the list."""

    tab: Tab
    open: int
    nobodys: int
    mine: int
    causes: tuple[Cause, ...]
    answered: tuple[Answered, ...]
    after: UUID | None
    """The last one, where there are more."""
    paged: bool
    """Not the first page."""


async def show(call: Call, now: Snapshot) -> Shown:
    """The page."""
    wanted = call.query.get("show", "")
    tab = Tab(wanted) if wanted in set(Tab) else Tab.OPEN
    after = _id(call.query.get("after", ""))
    counted = await now.row("console_escalations_count", who=call.who.actor)
    assert counted is not None  # noqa: S101  an aggregate without groups has one row
    if tab is Tab.CLOSED:
        rows = await now.rows("console_escalations_closed", after=after, limit=SHOWN + 1)
    else:
        rows = await now.rows(
            "console_escalations",
            of=tab.value,
            who=call.who.actor,
            account=None,
            reason=None,
            after=after,
            limit=SHOWN + 1,
        )
    page = rows[:SHOWN]
    closed = tab is Tab.CLOSED
    view = EscalationsView(
        tab,
        *(counted["open"], counted["nobodys"], counted["mine"]),
        causes=() if closed else await causes_of(call, page, now),
        answered=_answered(call, page) if closed else (),
        after=page[-1]["id"] if len(rows) > SHOWN else None,
        paged=after is not None,
    )
    live = not closed
    return Shown("escalations.html", call.say("Escalations"), view, nav="escalations", live=live)


def _answered(call: Call, rows: Sequence[Mapping[str, Any]]) -> tuple[Answered, ...]:
    return tuple(
        Answered(
            id=row["id"],
            name=name_of(call, row, row["members"]),
            why=why(call, row["reasons"][0]),
            code=row["reasons"][0],
            money=money_of(row["amount_minor"], row["currency"]),
            in_doubt=bool(row["in_doubt"]),
            opened_at=row["opened_at"],
            closed_at=row["closed_at"],
            closed_by=row["closed_by"],
            verdict=row["verdict"],
            note=row["note"] or "",
        )
        for row in rows
    )


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


TABLE: Final[Table] = (Page(path="/escalations", right=Right.OVERSEE, show=show),)

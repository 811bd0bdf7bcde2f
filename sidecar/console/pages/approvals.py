"""Approvals: what waits for a yes or a no, and what lapses first. Nothing is decided from here."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from ledger.model import Money
from ledger.postgres.snapshot import Snapshot
from ledger.proposals import ProposalState
from sidecar.access.roles import Right
from sidecar.access.seats import names_with
from sidecar.console.approving.words import person_name
from sidecar.console.deeds import batch, totals_of
from sidecar.console.page import Call, Page, Refused, Shown, Table

_SHOWN: Final = 50
_TABS: Final = ("yours", "all", "decided")


@dataclass(frozen=True, slots=True)
class Waiting:
    """A proposal that waits."""

    id: UUID
    name: str
    by: str
    version: int
    money: tuple[Money, ...]
    created_at: datetime
    expires_at: datetime
    approvals: int
    voters: tuple[str, ...]
    can: int
    """How many people could take the next seat."""
    undoable: bool
    repeats: int


@dataclass(frozen=True, slots=True)
class Decided:
    """A proposal that waits no more."""

    id: UUID
    name: str
    by: str
    money: tuple[Money, ...]
    state: ProposalState
    decided_by: str
    decided_at: datetime


@dataclass(frozen=True, slots=True)
class ApprovalsView:
    """The list."""

    tab: str
    yours: int
    all_of_them: int
    waiting: tuple[Waiting, ...]
    decided: tuple[Decided, ...]
    last: Decided | None
    """What was decided last, where nothing waits."""
    more: str | None
    """The address of the next page."""


async def show(call: Call, now: Snapshot) -> Shown:
    """The page."""
    tab = call.query.get("show", "yours")
    if tab not in _TABS:
        raise call.lost()
    counted = await now.row("console_approvals_count", by=call.who.actor)
    assert counted is not None  # noqa: S101  an aggregate without groups has one row
    may = call.may(Right.DECIDE)
    waiting, decided = [], []
    if tab == "decided":
        decided = await now.rows("console_decided", before=_before(call), limit=_SHOWN + 1)
    elif tab == "all" or may:
        after_at, after_id = _after(call)
        waiting = await now.rows(
            "console_approvals",
            not_by=call.who.actor if tab == "yours" else None,
            after_at=after_at,
            after_id=after_id,
            limit=_SHOWN + 1,
        )
    people = await names_with(now, Right.DECIDE)
    last = [] if waiting or decided else await now.rows("console_decided", before=None, limit=1)
    view = ApprovalsView(
        tab=tab,
        yours=counted["yours"] if may else 0,
        all_of_them=counted["all_of_them"],
        waiting=tuple(_waiting(call, row, people) for row in waiting[:_SHOWN]),
        decided=tuple(_decided(call, row) for row in decided[:_SHOWN]),
        last=_decided(call, last[0]) if last else None,
        more=_more(tab, waiting, decided),
    )
    return Shown("approvals.html", call.say("Approvals"), view, nav="approvals", live=True)


def _more(tab: str, waiting: list[Any], decided: list[Any]) -> str | None:
    """Keyset pages: the last row that is shown is where the next page begins."""
    if len(waiting) > _SHOWN:
        last = waiting[_SHOWN - 1]
        stamp = f"{last['expires_at'].timestamp():.6f}_{last['id']}"
        return f"/console/approvals?show={tab}&after={stamp}"
    if len(decided) > _SHOWN:
        return f"/console/approvals?show={tab}&before={decided[_SHOWN - 1]['id']}"
    return None


def _after(call: Call) -> tuple[datetime | None, UUID | None]:
    given = call.query.get("after")
    if given is None:
        return None, None
    stamp, _, last = given.partition("_")
    try:
        return datetime.fromtimestamp(float(stamp), tz=call.reader.tz), UUID(last)
    except (ValueError, OverflowError, OSError):
        raise _no_page(call) from None


def _before(call: Call) -> UUID | None:
    given = call.query.get("before")
    try:
        return None if given is None else UUID(given)
    except ValueError:
        raise _no_page(call) from None


def _no_page(call: Call) -> Refused:
    return Refused(404, call.say("Not found"), call.say("There is no such page."))


def _waiting(call: Call, row: Mapping[str, Any], people: list[str]) -> Waiting:
    voters = tuple(row["voters"])
    gone = {*voters, row["requested_by"]}
    return Waiting(
        id=row["id"],
        name=batch(row["type"], row["items"], call.reader.language),
        by=person_name(row["requested_by"]),
        version=row["version"],
        money=totals_of(row["totals"]),
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        approvals=row["approvals"],
        voters=tuple(person_name(one) for one in voters),
        can=sum(one not in gone for one in people),
        undoable=row["undo"] is not None,
        repeats=len(row["repeats"] or {}),
    )


def _decided(call: Call, row: Mapping[str, Any]) -> Decided:
    return Decided(
        id=row["id"],
        name=batch(row["type"], row["items"], call.reader.language),
        by=person_name(row["requested_by"]),
        money=totals_of(row["totals"]),
        state=ProposalState(row["state"]),
        decided_by=person_name(row["decided_by"]),
        decided_at=row["decided_at"],
    )


TABLE: Final[Table] = (Page(path="/approvals", right=Right.OVERSEE, show=show),)

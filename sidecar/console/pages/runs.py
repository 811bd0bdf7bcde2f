"""Runs: suspended agents, what each waits for, who goes on with it, and calling one again."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from ledger.postgres.snapshot import Snapshot
from ledger.runs import RunState
from sidecar.access.roles import Right
from sidecar.console.deeds import deed
from sidecar.console.figures import whole
from sidecar.console.page import Act, Call, Form, Page, Refused, Shown, Table, Went

_SHOWN: Final = 50


def _(text: str) -> str:
    """Marks a text for translation."""
    return text


RESULTS: Final = {
    "executed": _("%(n)s done"),
    "executed_with_changes": _("%(n)s done with changes"),
    "executed_after_new_approval": _("%(n)s done after a new approval"),
    "partly_executed": _("%(n)s done in part"),
    "own": _("%(n)s done by the agent"),
    "done": _("%(n)s decided"),
    "rejected": _("%(n)s rejected"),
    "expired": _("%(n)s lapsed"),
    "withdrawn": _("%(n)s withdrawn"),
    "failed_without_effect": _("%(n)s failed without effect"),
    "pending": _("%(n)s pending at the provider"),
    "waiting": _("%(n)s waiting"),
    "in_doubt": _("%(n)s in doubt"),
    "deferred": _("%(n)s deferred"),
    "new": _("%(n)s not begun"),
    "begun": _("%(n)s being proposed"),
}
"""A turn's calls, counted by what became of them; in this order."""


@dataclass(frozen=True, slots=True)
class Waits:
    """A call that still waits."""

    name: str
    status: str
    proposal_id: UUID | None


@dataclass(frozen=True, slots=True)
class Row:
    """One run."""

    id: UUID
    agent: str
    run_key: str
    state: str
    turn: int
    generation: int
    calls: int
    counts: tuple[str, ...]
    """In words, one a result."""
    doubt: bool
    waits: tuple[Waits, ...]
    suspended_at: datetime
    ready_at: datetime | None
    resumed_at: datetime | None
    claimed_by: str | None
    claimed_until: datetime | None
    offers: int
    offer_at: datetime | None
    callable: bool
    """It has an address."""


@dataclass(frozen=True, slots=True)
class RunsView:
    """The page."""

    suspended: int
    ready: int
    claimed: int
    rows: tuple[Row, ...]
    more: UUID | None
    paged: bool
    one: bool
    """Only one run was asked for."""
    offered: UUID | None
    """The run whose agent is called again, since somebody pressed."""


async def show(call: Call, now: Snapshot) -> Shown:
    """The page; `?id=` shows one run, gone on or not."""
    one, before = _id(call.query.get("id", "")), _id(call.query.get("before", ""))
    found = await now.rows("console_runs", id=one, before=before, limit=_SHOWN + 1)
    counted = await now.row("console_runs_count")
    assert counted is not None  # noqa: S101  an aggregate without groups has one row
    if one is not None and not found:
        raise call.lost()
    view = RunsView(
        *(counted["suspended"], counted["ready"], counted["claimed"]),
        rows=tuple(_row(call, row) for row in found[:_SHOWN]),
        more=found[_SHOWN - 1]["id"] if len(found) > _SHOWN else None,
        paged=before is not None,
        one=one is not None,
        offered=_id(call.query.get("offered", "")),
    )
    return Shown("runs.html", call.say("Runs"), view, nav="runs", live=True)


async def offer(call: Call, form: Form) -> Went:
    """Call the run's agent once more, as the run was read."""
    turn, generation = form.text("turn"), form.text("generation")
    if not (turn.isdecimal() and generation.isdecimal() and len(turn + generation) < 18):  # noqa: PLR2004  within two integers
        raise Refused(422, call.say("Nothing was done"), call.say("This form was not whole."))
    runs = call.doors.ledger.runs
    offered = await runs.offer_again(
        call.id,
        turn=int(turn),
        generation=int(generation),
        act=UUID(form.text("act")),
        by=call.who.actor,
    )
    if not offered:
        raise Refused(
            409,
            call.say("Nothing was done"),
            call.say("The run moved on while you were reading: look again."),
            back="/console/runs",
        )
    return Went(f"/console/runs?offered={call.id}")


def _row(call: Call, row: Mapping[str, Any]) -> Row:
    counts: Mapping[str, int] = row["counts"] or {}
    language = call.reader.language
    known = [name for name in RESULTS if name in counts]
    others = [name for name in counts if name not in RESULTS]
    words = [call.say(RESULTS[name], n=whole(counts[name], language)) for name in known]
    words += [f"{whole(counts[name], language)} {name.replace('_', ' ')}" for name in others]
    ready = row["state"] == RunState.READY
    return Row(
        id=row["id"],
        agent=row["agent"],
        run_key=row["run_key"],
        state=row["state"],
        turn=row["turn"],
        generation=row["generation"],
        calls=row["calls"] or 0,
        counts=tuple(words),
        doubt="in_doubt" in counts,
        waits=tuple(_waits(call, each) for each in row["open"] or ()),
        suspended_at=row["suspended_at"],
        ready_at=row["ready_at"],
        resumed_at=row["resumed_at"],
        claimed_by=row["claimed_by"],
        claimed_until=row["claimed_until"],
        offers=row["offers"],
        offer_at=row["offer_at"] if ready else None,
        callable=row["callable"],
    )


def _waits(call: Call, row: Mapping[str, Any]) -> Waits:
    proposal = row["proposal_id"]
    return Waits(
        deed(row["name"], None, call.reader.language),
        row["status"],
        None if proposal is None else UUID(proposal),
    )


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


TABLE: Final[Table] = (
    Page(path="/runs", right=Right.OVERSEE, show=show),
    Act(path="/runs/{id}/offer", right=Right.ANSWER, do=offer),
)

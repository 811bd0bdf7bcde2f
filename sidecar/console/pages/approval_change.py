"""Approve with changes: one form from the type's schema, and a new version with a new preview.

Nothing is approved by a change: the new version is read, and confirmed, like any other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ledger.errors import InvalidParameters, OutliveError
from ledger.model import Json
from ledger.postgres.proposals import Proposals
from ledger.postgres.snapshot import Snapshot
from ledger.proposals import DecisionRefused, Proposal
from sidecar.access.roles import Right
from sidecar.console.approving.answers import Answers, numbers, renumbered
from sidecar.console.approving.reading import ApprovalView, read, waits
from sidecar.console.approving.schema_form import Field, fields_of, typed_of, value_of
from sidecar.console.approving.standing import nothing
from sidecar.console.page import Act, Call, Form, Page, Shown, Table, Went
from sidecar.console.pages.approval_decide import home, named, reason_problem

FIELDS_MOST: Final = 20
"""Rows whose parameters can be changed in the form; of larger batches rows can be left out."""
_MOST_BYTES: Final = 262_144


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the form."""

    item: int
    object_id: str
    kept: bool
    typed: tuple[tuple[Field, str], ...]
    problem: str | None
    at_fault: str
    """The field that the problem is about, if one is."""


@dataclass(frozen=True, slots=True)
class ChangeView:
    """The form."""

    read: ApprovalView
    entries: tuple[Entry, ...]
    leave: str
    """Rows to leave out, of a batch that is too large for entries."""
    keep: str
    reason: str
    problem: str | None
    reason_problem: str | None
    leaves: bool
    """Only rows are left out: the page says so first."""


@dataclass(frozen=True, slots=True)
class _Given:
    """What was posted, read."""

    left: frozenset[int]
    items: Sequence[Mapping[str, Json]]
    wrong: tuple[int, str] | None
    """A field that holds no value of its kind."""

    def changes(self, proposal: Proposal) -> bool:
        """Whether something is asked for, and something else than before."""
        return bool(self.items) and list(self.items) != list(proposal.input)


async def ask(call: Call, now: Snapshot) -> Shown | Went:
    """The form, filled with what is asked for now."""
    proposal = await Proposals(now).get(call.id)
    if not waits(proposal, now.at):
        return Went(home(call))
    view = await read(call, now, proposal)
    return _shown(call, view, {}, left=view.answers.leave)


async def change(call: Call, form: Form) -> Went | Shown:
    """A new version in the place of this one."""
    version, digest = named(call, form)
    proposal = await call.doors.ledger.proposals.get(call.id)
    fields = fields_of(call.doors.types.get(proposal.type).parameters_schema)
    given, reason = _given(proposal, form, fields), form.text("reason")
    trouble: OutliveError | None = None
    if given.changes(proposal) and reason_problem(call, reason) is None:
        try:
            made = await call.doors.proposer.change(
                proposal,
                given.items,
                version=version,
                digest=digest,
                by=call.who.actor,
                reason=reason,
            )
        except DecisionRefused:
            return await nothing(call, typed=reason)
        except OutliveError as error:
            trouble = error
        else:
            kept = renumbered(numbers(form.text("kept")), given.left, len(proposal.input))
            return Went(f"/console/approvals/{made.id}{Answers(keep=kept).query}")
    async with call.reading() as now:
        stands = await Proposals(now).get(call.id)
        if waits(stands, now.at):
            answered = {**call.query, "keep": form.text("kept")}
            again = Call(call.doors, call.session, call.reader, call.url, call.path, answered)
            view = await read(again, now, stands)
            return _again(call, view, form, given, trouble)
    return await nothing(call, typed=reason)


def _given(proposal: Proposal, form: Form, fields: Sequence[Field]) -> _Given:
    """Read the rows from the form: those that are kept, with their values."""
    count = len(proposal.input)
    if count > FIELDS_MOST:
        left = frozenset(numbers(form.text("leave")) & set(range(1, count + 1)))
    else:
        ticked = {int(one) for one in form.all("row") if one.isascii() and one.isdecimal()}
        left = frozenset(set(range(1, count + 1)) - ticked)
    items: list[Mapping[str, Json]] = []
    for number, old in enumerate(proposal.input, 1):
        if number in left:
            continue
        if count > FIELDS_MOST:
            items.append(old)
            continue
        item: dict[str, Json] = {}
        for field in fields:
            try:
                value = value_of(field, form.text(f"{number}.{field.name}"))
            except (ValueError, KeyError):
                return _Given(left, (), (number, field.name))
            if value is not None:
                item[field.name] = value
        items.append(item)
    return _Given(left, items, None)


def _again(
    call: Call, view: ApprovalView, form: Form, given: _Given, trouble: OutliveError | None
) -> Shown:
    """The form once more, with what was typed and what is wrong with it."""
    reason = reason_problem(call, form.text("reason"))
    problem, wrong = None, given.wrong
    if given.wrong is not None:
        problem = call.say("Write a whole number. Nothing was changed.")
    elif not given.items:
        problem = call.say("Leaving out every row leaves nothing: reject it instead.")
    elif trouble is not None:
        problem = _told(call, trouble)
        if isinstance(trouble, InvalidParameters) and trouble.item is not None:
            stay = [n for n in range(1, len(view.proposal.input) + 1) if n not in given.left]
            wrong = (stay[trouble.item - 1], next(iter(trouble.problems)))
    elif not given.changes(view.proposal):
        problem = call.say("Nothing is changed yet. Leave a row out, or change a value.")
    return _shown(
        call, view, form.values, left=given.left, problem=problem, wrong=wrong, reason=reason
    )


def _told(call: Call, trouble: OutliveError) -> str:
    if isinstance(trouble, InvalidParameters):
        return "; ".join(trouble.problems.values())
    return call.say("Not changed: %(why)s", why=str(trouble))


def _shown(
    call: Call,
    view: ApprovalView,
    typed: Mapping[str, Sequence[str]],
    *,
    left: frozenset[int],
    problem: str | None = None,
    wrong: tuple[int, str] | None = None,
    reason: str | None = None,
) -> Shown:
    fields = fields_of(call.doors.types.get(view.proposal.type).parameters_schema)
    many = len(view.proposal.input) > FIELDS_MOST
    objects = {row.item: row.object_id for row in view.rows}

    def entry(number: int, item: Mapping[str, Json]) -> Entry:
        values = tuple(
            (field, typed.get(f"{number}.{field.name}", [typed_of(field, item.get(field.name))])[0])
            for field in fields
        )
        fault = wrong is not None and wrong[0] == number
        return Entry(
            item=number,
            object_id=objects.get(number, ""),
            kept=number not in left,
            typed=values,
            problem=problem if fault else None,
            at_fault=wrong[1] if fault and wrong is not None else "",
        )

    shown = ChangeView(
        read=view,
        entries=() if many else tuple(entry(n, i) for n, i in enumerate(view.proposal.input, 1)),
        leave=typed.get("leave", [",".join(str(one) for one in sorted(left))])[0],
        keep=",".join(str(one) for one in sorted(view.answers.keep)),
        reason=typed.get("reason", [""])[0],
        problem=None if wrong is not None else problem,
        reason_problem=reason,
        leaves=bool(left) and not typed,
    )
    status = 422 if problem or reason else 200
    title = call.say("Change: %(what)s", what=view.name)
    return Shown("approval_change.html", title, shown, status, nav="approvals")


TABLE: Final[Table] = (
    Page(path="/approvals/{id}/change", right=Right.DECIDE, show=ask),
    Act(path="/approvals/{id}/change", right=Right.DECIDE, do=change, most_bytes=_MOST_BYTES),
)

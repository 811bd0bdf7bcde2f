"""Everything that the page of one waiting proposal shows, of one moment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from dispatcher.providers.stripe.request import BadEnvelope, form_decode, unpack
from ledger.model import Money
from ledger.postgres.authorization_writes import LOOK_ALIKE_S
from ledger.postgres.proposals import Proposals
from ledger.postgres.snapshot import Snapshot
from ledger.postgres.switches import Switches
from ledger.proposals import Proposal, ProposalState
from sidecar.access.roles import Right
from sidecar.access.seats import Seats, seats_over
from sidecar.console.approving.answers import Answers, without
from sidecar.console.approving.checking import Check, checks_of
from sidecar.console.approving.differing import Difference, difference
from sidecar.console.approving.groups import Groups, groups_of
from sidecar.console.approving.words import Thresholds, rule_words, thresholds
from sidecar.console.deeds import batch, money_of, provider_name
from sidecar.console.page import Call
from sidecar.proposals.held_back import holding_back

ROWS: Final = 50
"""Rows on a page of them."""
_OLDER_MOST: Final = 5


class Place(StrEnum):
    """What whoever reads can do about a waiting proposal."""

    DECIDE = "decide"
    SIGNED = "signed"
    """They approved it; a second person is missing."""
    OWN = "own"
    READ = "read"


@dataclass(frozen=True, slots=True)
class Older:
    """An effect that exists already."""

    id: UUID
    state: str
    in_doubt: bool
    escalated: bool
    money: Money | None
    at: datetime | None
    reference: str | None


@dataclass(frozen=True, slots=True)
class Repeat:
    """An item that resembles older effects, with both answers and what each comes to."""

    item: int
    object_id: str
    money: Money | None
    older: tuple[Older, ...]
    more: int
    """Older ones beyond those."""
    answer: str
    keep_query: str
    leave_query: str
    keep: tuple[int, tuple[Money, ...]]
    leave: tuple[int, tuple[Money, ...]]


@dataclass(frozen=True, slots=True)
class Row:
    """One row, with the exact request."""

    item: int
    operation_id: UUID
    object_id: str
    money: Money | None
    left: Money | None
    call: str
    """`POST /v1/refunds`."""
    fields: tuple[tuple[str, str], ...]
    headers: tuple[tuple[str, str], ...]
    digest: str
    state: str | None
    in_doubt: bool
    escalated: bool
    stopped: bool
    failure_code: str | None


@dataclass(frozen=True, slots=True)
class ApprovalView:
    """The page. What never changes with an id is not asked about again by the live page."""

    proposal: Proposal = field(repr=False)
    version: tuple[UUID, int, str]
    name: str
    place: Place
    seats: Seats
    provider: str
    groups: Groups = field(repr=False)
    checks: tuple[Check, ...] = field(repr=False)
    repeats: tuple[Repeat, ...]
    answers: Answers
    missing: int
    result: tuple[int, tuple[Money, ...]]
    """What is asked for as the answers stand."""
    rows: tuple[Row, ...] = field(repr=False)
    good: int
    """Rows that the provider would take, when it was asked."""
    why: str
    thresholds: Thresholds
    held_back: tuple[str, ...]
    since: Difference | None = field(repr=False)
    """Against the version before, where a person changed it."""

    @property
    def asked(self) -> frozenset[int]:
        """Items that resemble something."""
        return frozenset(one.item for one in self.repeats)

    @property
    def open(self) -> bool:
        """Whether a yes may be given now: all is answered, nothing is left out or missing."""
        answered = not self.missing and not self.answers.leave
        return self.place is Place.DECIDE and answered and self.groups.whole


def lapsed(proposal: Proposal, at: datetime) -> bool:
    """Whether nobody decided in time, written down already or not."""
    over = proposal.expires_at is not None and proposal.expires_at <= at
    return proposal.state is ProposalState.EXPIRED or (
        proposal.state is ProposalState.AWAITING and over
    )


def waits(proposal: Proposal, at: datetime) -> bool:
    """Whether it waits for a decision."""
    return proposal.state is ProposalState.AWAITING and not lapsed(proposal, at)


async def read(call: Call, now: Snapshot, proposal: Proposal) -> ApprovalView:
    """Read everything about a proposal that waits."""
    seats = await seats_over(now, proposal)
    alike = await now.rows("console_alike", id=proposal.id, look_alike_s=LOOK_ALIKE_S)
    ids = [one for row in alike for one in row["older"] or () if one is not None]
    older = {row["id"]: _older(row) for row in await now.rows("console_older", ids=ids)}
    named = sorted({*proposal.preview.get("check", ()), *(row["item"] for row in alike)})
    rows = await rows_of(now, proposal.id, named=named)
    by_item = {row.item: row for row in rows}
    money = [money_of(w["amount_minor"], w["currency"]) for w in proposal.preview["preconditions"]]
    answers = Answers.of(call.query, [row["item"] for row in alike])
    repeats = tuple(_repeat(row, older, by_item, money, answers) for row in alike)
    before = None
    if proposal.changed and proposal.supersedes is not None:
        before = await Proposals(now).get(proposal.supersedes)
    brakes = holding_back(await Switches(now).brakes(), type_name=proposal.type)
    call.doors.policy.refresh()
    return ApprovalView(
        proposal=proposal,
        version=(proposal.id, proposal.version, proposal.state.value),
        name=batch(proposal.type, len(money), call.reader.language),
        place=_place(call, proposal),
        seats=seats,
        provider=provider_name(proposal.type.partition(".")[0]),
        groups=groups_of(proposal.preview),
        checks=checks_of(proposal.preview, {row.item: row.object_id for row in rows}),
        repeats=repeats,
        answers=answers,
        missing=answers.missing([row["item"] for row in alike]),
        result=without(money, answers.leave),
        rows=tuple(row for row in rows if row.item <= ROWS),
        good=sum(not world["gone"] for world in proposal.preview["preconditions"]),
        why=rule_words(proposal.rule, call.reader.language),
        thresholds=thresholds(call.doors.policy.policy, proposal.type),
        held_back=tuple(one.scope for one in brakes),
        since=None if before is None else difference(before, proposal),
    )


async def rows_of(
    now: Snapshot, proposal_id: UUID, *, named: Sequence[int] = (), after: int = 0
) -> list[Row]:
    """A page of rows, and those that are named."""
    found = await now.rows(
        "console_items", id=proposal_id, named=list(named), after=after, limit=ROWS
    )
    return [_row(row) for row in found]


def _place(call: Call, proposal: Proposal) -> Place:
    if call.who.actor == proposal.requested_by:
        return Place.OWN
    if not call.may(Right.DECIDE):
        return Place.READ
    return Place.SIGNED if call.who.actor in proposal.voters else Place.DECIDE


def _repeat(
    row: Mapping[str, Any],
    older: Mapping[UUID, Older],
    rows: Mapping[int, Row],
    money: Sequence[Money | None],
    answers: Answers,
) -> Repeat:
    item: int = row["item"]
    known = [older[one] for one in row["older"] or () if one in older]
    known.sort(key=lambda one: str(one.id), reverse=True)
    answer = "keep" if item in answers.keep else "leave" if item in answers.leave else ""
    kept, left = answers.kept(item), answers.left(item)
    return Repeat(
        item=item,
        object_id=rows[item].object_id if item in rows else "",
        money=money[item - 1],
        older=tuple(known[:_OLDER_MOST]),
        more=max(0, len(row["older"] or ()) - min(len(known), _OLDER_MOST)),
        answer=answer,
        keep_query=kept.query,
        leave_query=left.query,
        keep=without(money, kept.leave),
        leave=without(money, left.leave),
    )


def _older(row: Mapping[str, Any]) -> Older:
    return Older(
        row["id"],
        row["state"],
        row["in_doubt"],
        row["escalated"],
        money_of(row["amount_minor"], row["currency"]),
        row["created_at"],
        row["reference"],
    )


def _row(row: Mapping[str, Any]) -> Row:
    told, fields, headers = _request(row["request"])
    remaining = row["remaining_minor"]
    return Row(
        item=row["item"],
        operation_id=row["operation_id"],
        object_id=row["object_id"],
        money=money_of(row["amount_minor"], row["currency"]),
        left=money_of(remaining, row["currency"]),
        call=told,
        fields=fields,
        headers=headers,
        digest=row["request_digest"],
        state=row["state"],
        in_doubt=bool(row["in_doubt"]),
        escalated=bool(row["escalated"]),
        stopped=row["revoked_at"] is not None and row["attempt_count"] == 0,
        failure_code=row["failure_code"],
    )


Pairs = tuple[tuple[str, str], ...]


def _request(stored: str) -> tuple[str, Pairs, Pairs]:
    """The call, its fields and what goes with it; bytes that are no envelope stand as they are."""
    try:
        request = unpack(stored.encode())
        fields = form_decode(request.body or "")
    except BadEnvelope:
        return stored, (), ()
    headers = {
        "Stripe-Version": request.api_version,
        "Stripe-Account": request.stripe_account,
        "Idempotency-Key": request.idempotency_key,
    }
    return (
        f"{request.method} {request.target}",
        tuple(fields.items()),
        tuple((name, value) for name, value in headers.items() if value is not None),
    )

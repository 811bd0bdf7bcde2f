"""The dossier of one question, read from one snapshot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from ledger.escalations import Escalation, Signature
from ledger.model import Operation
from ledger.postgres.answers import Answers
from ledger.postgres.escalations import escalation_of
from ledger.postgres.proposal_rows import proposal_of
from ledger.postgres.rows import operation_of
from ledger.postgres.snapshot import Snapshot
from sidecar.access.roles import Right
from sidecar.access.seats import Seats, answer_seats, names_with
from sidecar.console.deeds import deed, provider_name
from sidecar.console.escalating.checks import Given
from sidecar.console.escalating.members import Members, members_of
from sidecar.console.escalating.moments import History, Moment
from sidecar.console.escalating.offers import Offer, offers
from sidecar.console.escalating.questions import why
from sidecar.console.escalating.sight import Sight, sight
from sidecar.console.escalating.timeline import Outside, missing, outside, timeline
from sidecar.console.escalating.wide import Wide, wide
from sidecar.console.page import Call
from telemetry.timeline import Gap

_EVENTS: Final = 200


@dataclass(frozen=True, slots=True)
class Claim:
    """Who is on it."""

    by: str | None
    until: datetime | None
    mine: bool
    lapsed: bool


@dataclass(frozen=True, slots=True)
class Note:
    """What became of an act that did nothing, or not all."""

    title: str
    text: str
    foreign: str = ""
    """Words that are not translated, or a person's."""
    asks_news: bool = False
    """What happened since the page was read belongs to it."""
    news: tuple[Moment, ...] = ()


@dataclass(frozen=True, slots=True)
class Typed:
    """What was typed before the act was refused, and the field at fault."""

    verdict: str
    values: Mapping[str, str]
    field: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Dossier:
    """One question that is about one operation."""

    operation: Operation
    sight: Sight
    offers: tuple[Offer, ...]
    moments: tuple[Moment, ...]
    missing: tuple[Gap, ...]
    outside: tuple[Outside, ...]
    seq: int
    """Of the last event that was read."""
    requested_by: str
    window_over: bool
    used_percent: str | None = field(repr=False)
    """Of the key's window; moves with the clock."""


@dataclass(frozen=True, slots=True)
class DossierView:
    """The page."""

    question: Escalation
    name: str
    why: str
    provider: str
    claim: Claim
    seats: Seats
    signatures: tuple[Signature, ...]
    mine: Signature | None
    """The reader's own signature that counts."""
    dossier: Dossier | None
    """`None`: the question is about no single operation."""
    wide: Wide | None
    """Of such a question."""
    members: Members | None
    """The operations behind a question about a whole account."""
    note: Note | None = None
    typed: Typed | None = None

    @property
    def posted(self) -> bool:
        """Whether this answers an act: then it can't be asked again by itself."""
        return self.note is not None


async def read(call: Call, now: Snapshot, any_id: UUID) -> DossierView:
    """The dossier by the question's id or its operation's.

    Raises:
        Refused: There is none.
    """
    row = await now.row("read_escalation", id=any_id)
    if row is None:
        raise call.lost()
    question = escalation_of(row)
    above = call.doors.policy.answers_above()
    signatures = await Answers(now).signatures([question.id])
    seats = answer_seats(question, signatures, await names_with(now, Right.ANSWER), above)
    dossier = None
    if question.operation_id is not None:
        dossier = await _dossier(call, now, question, seats, signatures)
    members = await members_of(call, now, [question])
    me = call.who.actor
    return DossierView(
        question=question,
        name=_name(call, question, dossier),
        why=why(call, question.reasons[0]) or str(question.dossier.get("why") or ""),
        provider=provider_name(question.provider),
        claim=_claim(question, now.at, me),
        seats=seats,
        signatures=tuple(signatures),
        mine=next((one for one in signatures if one.counts and one.signer == me), None),
        dossier=dossier,
        wide=wide(call, question) if dossier is None else None,
        members=members.get(question.id),
    )


async def _dossier(
    call: Call,
    now: Snapshot,
    question: Escalation,
    seats: Seats,
    signatures: Sequence[Signature],
) -> Dossier:
    [row] = await now.rows("read_operations", ids=[question.operation_id])
    operation = operation_of(row)
    proposals = await now.rows("read_proposals", ids=[operation.proposal_id])
    newest = await now.rows("console_history", id=operation.id, most=_EVENTS)
    events: list[Mapping[str, Any]] = list(reversed(newest))
    seen = sight(question, operation, now.at)
    money = operation.subject.money
    kind = call.doors.types.get(operation.type)
    given = Given(
        *(question, operation, seen, seats, signatures, now.at),
        amount=None if money is None else kind.major(money),
    )
    proposal = proposal_of(proposals[0]) if proposals else None
    history = History(operation, question, proposal, events)
    ends, began = question.window_ends_at, operation.window_started_at
    used = None
    if ends is not None and began is not None and ends > began:
        used = max(0.0, min(1.0, (now.at - began) / (ends - began)))
    return Dossier(
        operation=operation,
        sight=seen,
        offers=offers(call, given) if question.open else (),
        moments=timeline(call, history),
        missing=missing(history),
        outside=outside(call, history),
        seq=max((event["last_seq"] for event in events), default=0),
        requested_by="" if proposal is None else proposal.requested_by,
        window_over=ends is not None and ends <= now.at,
        used_percent=None if used is None else f"{used * 100:.1f}%",
    )


def _name(call: Call, question: Escalation, dossier: Dossier | None) -> str:
    if dossier is not None:
        operation = dossier.operation
        return deed(operation.type, operation.subject.object_id, call.reader.language)
    provider = provider_name(question.provider)
    if question.scope == "account":
        return call.say("%(provider)s, the whole account", provider=provider)
    return call.say("An effect at %(provider)s that no operation asked for", provider=provider)


def _claim(question: Escalation, at: datetime, me: str) -> Claim:
    until = question.claimed_until
    lapsed = question.claimed_by is not None and (until is None or until <= at)
    return Claim(
        by=question.claimed_by,
        until=until,
        mine=question.claimed_by == me,
        lapsed=lapsed,
    )

"""Questions to people as they leave. Pure."""

from typing import Self
from uuid import UUID

from ledger.escalations import Escalation, Signature
from recovery.asking import Asked
from recovery.causes import Cause
from sidecar.http.models import JsonObject, MoneyView, Utc, View, money_view, sums_view
from sidecar.http.views import SeatsView


class EscalationLineView(View):
    """A question in a list."""

    id: UUID
    scope: str
    operation_id: UUID | None
    provider: str
    account: str
    reference: str | None
    reasons: list[str]
    members: list[UUID]
    money: MoneyView | None
    opened_at: Utc
    window_ends_at: Utc | None
    claimed_by: str | None
    claimed_until: Utc | None
    closed_at: Utc | None
    closed_by: str | None
    verdict: str | None
    note: str | None

    @classmethod
    def of(cls, one: Escalation) -> Self:
        """A question."""
        return cls.model_validate(line_of(one))


class SignatureView(View):
    """The first of two people has signed an answer."""

    by: str
    answer: JsonObject
    note: str
    signed_at: Utc
    case_version: int
    counts: bool
    """Whether the case is still the one that was signed on."""

    @classmethod
    def of(cls, one: Signature) -> Self:
        """A signature."""
        return cls(
            by=one.signer,
            answer=dict(one.answer),
            note=one.note,
            signed_at=one.signed_at,
            case_version=one.case_version,
            counts=one.counts,
        )


class EscalationView(EscalationLineView):
    """A question with its dossier, and what each answer would do."""

    case_version: int | None
    """What to name when resolving, so that nobody answers on an older picture."""
    dossier: JsonObject
    evidence: JsonObject | None
    """What traces and logs told, gathered after it was asked; null until then."""
    answers: dict[str, str]
    seats: SeatsView
    """Who has signed an answer on the case as it stands, and who may be the second."""
    signatures: list[SignatureView]
    """Every signature, also one that a changed case has voided."""
    asked: JsonObject | None
    """What came of asking the provider again: `last`, and its last `answer`."""
    answered_at: Utc | None
    """When the provider last gave a whole answer about it."""


class CauseView(View):
    """Questions that come from the same thing."""

    provider: str
    account: str
    reasons: list[str]
    since: Utc
    until: Utc
    silent: bool
    """Whether sendings of this stretch of time stayed without an answer."""
    count: int
    money: list[MoneyView]
    escalation_ids: list[UUID]

    @classmethod
    def of(cls, cause: Cause) -> Self:
        """A cause."""
        return cls(
            provider=cause.provider,
            account=cause.account,
            reasons=list(cause.reasons),
            since=cause.since,
            until=cause.until,
            silent=cause.silent,
            count=cause.count,
            money=sums_view(cause.sums),
            escalation_ids=list(cause.escalation_ids),
        )


class EscalationsView(View):
    """Open questions, by what is lost first: key window, money, age."""

    escalations: list[EscalationLineView]
    causes: list[CauseView]
    """The same questions, grouped by what they come from."""


class AskedView(View):
    """What the provider says now, or that it said nothing."""

    at: Utc
    trouble: str | None
    """Why it can't be believed, or that nobody answered; null: a whole answer."""
    detail: str
    seen: str
    effects: list[JsonObject]
    proof: JsonObject
    """Where it was looked, and whether all of it was read."""
    locked: dict[str, str]
    """Answers that can't be given as things stand, each with the reason."""
    answered_at: Utc | None
    """When the provider last gave a whole answer."""
    case_version: int

    @classmethod
    def of(cls, asked: Asked) -> Self:
        """An answer of the provider."""
        return cls.model_validate(
            {
                **asked.as_json(),
                "at": asked.at,
                "answered_at": asked.answered_at,
                "case_version": asked.case_version,
            }
        )


def line_of(one: Escalation) -> JsonObject:
    """What every view of a question tells."""
    return {
        "id": one.id,
        "scope": one.scope,
        "operation_id": one.operation_id,
        "provider": one.provider,
        "account": one.account,
        "reference": one.reference,
        "reasons": list(one.reasons),
        "members": list(one.members),
        "money": money_view(one.money),
        "opened_at": one.opened_at,
        "window_ends_at": one.window_ends_at,
        "claimed_by": one.claimed_by,
        "claimed_until": one.claimed_until,
        "closed_at": one.closed_at,
        "closed_by": one.closed_by,
        "verdict": one.verdict,
        "note": one.note,
    }

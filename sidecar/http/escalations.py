"""`/v1/escalations`: what only a person can decide, each with its whole dossier."""

from typing import Annotated, Final, Self
from uuid import UUID

from pydantic import Field

from ledger.escalations import Escalation
from recovery.dossier import ANSWERS
from recovery.verdicts import AnswerGiven, Verdict
from sidecar.access.roles import Right
from sidecar.http.endpoint import Call, Endpoint, Reply, Table
from sidecar.http.models import (
    Body,
    JsonObject,
    Limit,
    Line,
    Moment,
    MoneyView,
    NoBody,
    NoQuery,
    Prose,
    Query,
    Utc,
    View,
    money_view,
)
from sidecar.http.operation_views import OperationView

_CLAIM_S: Final = 1_800
_CLAIM_MOST_S: Final = 86_400


class EscalationsQuery(Query):
    """How many open questions."""

    limit: Limit = 100


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
        return cls.model_validate(_line(one))


class EscalationView(EscalationLineView):
    """A question with its dossier, and what each answer would do."""

    case_version: int | None
    """What to name when resolving, so that nobody answers on an older picture."""
    dossier: JsonObject
    evidence: JsonObject | None
    """What traces and logs told, gathered after it was asked; null until then."""
    answers: dict[str, str]


class EscalationsView(View):
    """Open questions, by what is lost first: key window, money, age."""

    escalations: list[EscalationLineView]


class ClaimBody(Body):
    """How long somebody is on it."""

    for_s: Annotated[int, Field(ge=60, le=_CLAIM_MOST_S)] = _CLAIM_S


class ResolveBody(Body):
    """An answer; it is checked with the provider before it counts."""

    verdict: Annotated[Verdict, Field(strict=False)]
    note: Prose = ""
    reference: Line | None = None
    """The effect at the provider (`re_…`), where the answer names one."""
    until: Moment | None = None
    """With `wait`."""
    case_version: Annotated[int, Field(ge=0, le=2**53 - 1)] | None = None
    """The case version that was read."""


class ResolvedView(View):
    """What an answer led to."""

    escalation: EscalationLineView
    operation: OperationView | None


def _line(one: Escalation) -> JsonObject:
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


async def _list(call: Call[EscalationsQuery, NoBody]) -> Reply:
    found = await call.doors.ledger.escalations.open_ones(limit=call.query.limit)
    return Reply(EscalationsView(escalations=[EscalationLineView.of(one) for one in found]))


async def _read(call: Call[NoQuery, NoBody]) -> Reply:
    one = await call.doors.ledger.escalations.get(call.id)
    version = None
    if one.operation_id is not None:
        version = (await call.doors.ledger.operation(one.operation_id)).case_version
    view = EscalationView.model_validate(
        {
            **_line(one),
            "case_version": version,
            "dossier": dict(one.dossier),
            "evidence": None if one.evidence is None else dict(one.evidence),
            "answers": dict(ANSWERS),
        }
    )
    return Reply(view)


async def _claim(call: Call[NoQuery, ClaimBody]) -> Reply:
    one = await call.doors.ledger.escalations.get(call.id)
    await call.doors.ledger.escalations.claim(
        one.id, by=call.who.actor, for_s=float(call.body.for_s)
    )
    return Reply(EscalationLineView.of(await call.doors.ledger.escalations.get(one.id)))


async def _resolve(call: Call[NoQuery, ResolveBody]) -> Reply:
    body = call.body
    escalations = call.doors.ledger.escalations
    one = await escalations.get(call.id)
    by = call.who.actor
    operation = None
    if one.operation_id is None and body.verdict is Verdict.SEEN:
        await escalations.close(one.id, by=by, verdict=body.verdict.value, note=body.note)
    else:
        answer = AnswerGiven(
            verdict=body.verdict,
            by=by,
            note=body.note,
            reference=body.reference,
            until=body.until,
            expected_case_version=body.case_version,
        )
        resolved = await call.doors.verdicts.resolve(one, answer)
        operation = OperationView.of(resolved.operation)
    closed = await escalations.get(one.id)
    return Reply(ResolvedView(escalation=EscalationLineView.of(closed), operation=operation))


_GONE: Final = ("unknown_escalation", "escalation_closed")

TABLE: Final[Table] = (
    Endpoint(
        method="GET",
        path="/v1/escalations",
        right=Right.OVERSEE,
        name="list_escalations",
        summary="Open questions, by what is lost first.",
        query=EscalationsQuery,
        body=NoBody,
        answers={200: EscalationsView},
        handler=_list,
    ),
    Endpoint(
        method="GET",
        path="/v1/escalations/{id}",
        right=Right.OVERSEE,
        name="read_escalation",
        summary="A question with its dossier; `id` is its own or its operation's.",
        query=NoQuery,
        body=NoBody,
        answers={200: EscalationView},
        handler=_read,
        refuses=("unknown_escalation",),
    ),
    Endpoint(
        method="POST",
        path="/v1/escalations/{id}/claim",
        right=Right.ANSWER,
        name="claim_escalation",
        summary="Say that you are on it; the claim lapses.",
        query=NoQuery,
        body=ClaimBody,
        answers={200: EscalationLineView},
        handler=_claim,
        refuses=_GONE,
        example={"for_s": _CLAIM_S},
    ),
    Endpoint(
        method="POST",
        path="/v1/escalations/{id}/resolve",
        right=Right.ANSWER,
        name="resolve_escalation",
        summary="Answer it. The provider is asked before the answer counts.",
        query=NoQuery,
        body=ResolveBody,
        answers={200: ResolvedView},
        handler=_resolve,
        refuses=(
            *_GONE,
            "verdict_refused",
            "stale_case",
            "gate_stop",
            "stale_fence",
            "provider_auth",
            "provider_unreachable",
            "provider_inconsistent",
        ),
        example={"verdict": "happened", "reference": "re_1", "note": "Seen in the dashboard."},
    ),
)

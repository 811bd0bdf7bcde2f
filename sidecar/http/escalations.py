"""`/v1/escalations`: what only a person can decide, each with its whole dossier."""

from typing import Annotated, Final

from pydantic import Field

from recovery.asking import answered_at
from recovery.causes import causes
from recovery.dossier import ANSWERS
from sidecar.access.roles import Right
from sidecar.access.seats import seats_of_answer
from sidecar.http.endpoint import Call, Endpoint, Reply, Table
from sidecar.http.escalation_views import (
    AskedView,
    CauseView,
    EscalationLineView,
    EscalationsView,
    EscalationView,
    SignatureView,
    line_of,
)
from sidecar.http.models import Body, Limit, NoBody, NoQuery, Query
from sidecar.http.views import SeatsView

_CLAIM_S: Final = 1_800
_CLAIM_MOST_S: Final = 86_400


class EscalationsQuery(Query):
    """How many open questions."""

    limit: Limit = 100


class ClaimBody(Body):
    """How long somebody is on it, or how much longer."""

    for_s: Annotated[int, Field(ge=60, le=_CLAIM_MOST_S)] = _CLAIM_S


async def _list(call: Call[EscalationsQuery, NoBody]) -> Reply:
    found = await call.doors.ledger.escalations.open_ones(limit=call.query.limit)
    return Reply(
        EscalationsView(
            escalations=[EscalationLineView.of(one) for one in found],
            causes=[CauseView.of(cause) for cause in causes(found)],
        )
    )


async def _read(call: Call[NoQuery, NoBody]) -> Reply:
    doors = call.doors
    one = await doors.ledger.escalations.get(call.id)
    version = None
    if one.operation_id is not None:
        version = (await doors.ledger.operation(one.operation_id)).case_version
    seats, signatures = await seats_of_answer(doors.ledger, one, doors.policy.answers_above())
    view = EscalationView.model_validate(
        {
            **line_of(one),
            "case_version": version,
            "dossier": dict(one.dossier),
            "evidence": None if one.evidence is None else dict(one.evidence),
            "answers": dict(ANSWERS),
            "seats": SeatsView.of(seats),
            "signatures": [SignatureView.of(signature) for signature in signatures],
            "asked": None if one.asked is None else dict(one.asked),
            "answered_at": answered_at(one, one.asked),
        }
    )
    return Reply(view)


async def _ask(call: Call[NoQuery, NoBody]) -> Reply:
    one = await call.doors.ledger.escalations.get(call.id)
    return Reply(AskedView.of(await call.doors.asking.ask(one, by=call.who.actor)))


async def _claim(call: Call[NoQuery, ClaimBody]) -> Reply:
    one = await call.doors.ledger.escalations.get(call.id)
    await call.doors.ledger.escalations.claim(
        one.id, by=call.who.actor, for_s=float(call.body.for_s)
    )
    return Reply(EscalationLineView.of(await call.doors.ledger.escalations.get(one.id)))


async def _extend(call: Call[NoQuery, ClaimBody]) -> Reply:
    one = await call.doors.ledger.escalations.get(call.id)
    await call.doors.ledger.escalations.extend(
        one.id, by=call.who.actor, for_s=float(call.body.for_s)
    )
    return Reply(EscalationLineView.of(await call.doors.ledger.escalations.get(one.id)))


async def _release(call: Call[NoQuery, NoBody]) -> Reply:
    one = await call.doors.ledger.escalations.get(call.id)
    await call.doors.ledger.escalations.release(one.id, by=call.who.actor)
    return Reply(EscalationLineView.of(await call.doors.ledger.escalations.get(one.id)))


TABLE: Final[Table] = (
    Endpoint(
        method="GET",
        path="/v1/escalations",
        right=Right.OVERSEE,
        name="list_escalations",
        summary="Open questions, by what is lost first, and grouped by their cause.",
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
        path="/v1/escalations/{id}/ask",
        right=Right.ANSWER,
        name="ask_provider",
        summary="Ask the provider again, at most once in 10 s about one question. Decides nothing.",
        query=NoQuery,
        body=NoBody,
        answers={200: AskedView},
        handler=_ask,
        refuses=(
            "unknown_escalation",
            "escalation_closed",
            "throttled",
            "verdict_refused",
            "stale_fence",
            "adapter_failed",
        ),
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
        refuses=("unknown_escalation", "escalation_closed"),
        example={"for_s": _CLAIM_S},
    ),
    Endpoint(
        method="POST",
        path="/v1/escalations/{id}/extend",
        right=Right.ANSWER,
        name="extend_claim",
        summary="Stay on it so much longer.",
        query=NoQuery,
        body=ClaimBody,
        answers={200: EscalationLineView},
        handler=_extend,
        refuses=("unknown_escalation", "claim_not_yours"),
        example={"for_s": _CLAIM_S},
    ),
    Endpoint(
        method="POST",
        path="/v1/escalations/{id}/release",
        right=Right.ANSWER,
        name="release_escalation",
        summary="Let go of it; people are paged again.",
        query=NoQuery,
        body=NoBody,
        answers={200: EscalationLineView},
        handler=_release,
        refuses=("unknown_escalation", "claim_not_yours"),
    ),
)

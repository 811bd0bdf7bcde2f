"""`/v1/escalations/{id}/resolve`, `/v1/answers`: people's answers, one or many at once."""

from typing import Annotated, Any, Final, Literal
from uuid import UUID

from pydantic import Field

from recovery.bulk import MOST, Became, BulkAnswer, Shown
from recovery.verdicts import AnswerGiven, Verdict
from sidecar.access.roles import Right
from sidecar.access.seats import seats_of_answer
from sidecar.http.endpoint import Call, Endpoint, Reply, Table
from sidecar.http.escalation_views import EscalationLineView
from sidecar.http.keys import key_header
from sidecar.http.models import Body, Line, Moment, MoneyView, NoBody, NoQuery, Prose, View
from sidecar.http.operation_views import OperationView
from sidecar.http.problems import DiffersView, Problem
from sidecar.http.views import SeatsView

CaseVersion = Annotated[int, Field(ge=0, le=2**53 - 1)]


class ResolveBody(Body):
    """An answer; it is checked with the provider before it counts."""

    verdict: Annotated[Verdict, Field(strict=False)]
    note: Prose = ""
    reference: Line | None = None
    """The effect at the provider (`re_…`), where the answer names one."""
    until: Moment | None = None
    """With `wait`."""
    case_version: CaseVersion | None = None
    """The case version that was read."""


class ResolvedView(View):
    """What an answer led to."""

    taken: Literal["answered", "signed"]
    """`signed`: a second person must give the same answer on the same case before it counts."""
    seats: SeatsView
    escalation: EscalationLineView
    operation: OperationView | None


class WithdrawnView(View):
    """Who is still signed after a signature was taken back."""

    seats: SeatsView


class ShownBody(Body):
    """A question as it was read."""

    id: Annotated[UUID, Field(strict=False)]
    case_version: CaseVersion


class BulkBody(Body):
    """One answer to many questions that share a cause. Never `send-again`."""

    verdict: Annotated[Verdict, Field(strict=False)]
    questions: Annotated[list[ShownBody], Field(min_length=1, max_length=MOST)]
    count: Annotated[int, Field(ge=1, le=MOST)]
    """How many you answer, in your own count."""
    note: Prose = ""
    until: Moment | None = None
    """With `wait`."""


class BulkItemView(View):
    """What became of one question."""

    id: UUID
    operation_id: UUID | None
    became: Became
    code: str | None
    why: str | None
    differs: DiffersView | None
    money: MoneyView | None


class TotalView(View):
    """How many, and what they come to, one sum a currency."""

    count: int
    money: list[MoneyView]


class BulkView(View):
    """What became of each, and in all."""

    results: list[BulkItemView]
    totals: dict[str, TotalView]


async def _resolve(call: Call[NoQuery, ResolveBody]) -> Reply:
    body, doors = call.body, call.doors
    escalations, verdicts = doors.ledger.escalations, doors.verdicts
    one = await escalations.get(call.id)
    by = call.who.actor
    operation = None
    if one.operation_id is None and body.verdict is Verdict.SEEN:
        signed = not await verdicts.close(one, by=by, note=body.note)
    else:
        answer = AnswerGiven(
            verdict=body.verdict,
            by=by,
            note=body.note,
            reference=body.reference,
            until=body.until,
            expected_case_version=body.case_version,
        )
        resolved = await verdicts.resolve(one, answer)
        operation, signed = OperationView.of(resolved.operation), resolved.signed
    stands = await escalations.get(one.id)
    seats, _ = await seats_of_answer(doors.ledger, stands, doors.policy.answers_above())
    return Reply(
        ResolvedView(
            taken="signed" if signed else "answered",
            seats=SeatsView.of(seats),
            escalation=EscalationLineView.of(stands),
            operation=operation,
        )
    )


async def _withdraw(call: Call[NoQuery, NoBody]) -> Reply:
    doors = call.doors
    one = await doors.ledger.escalations.get(call.id)
    await doors.ledger.answers.withdraw(one.id, one.operation_id, by=call.who.actor)
    seats, _ = await seats_of_answer(doors.ledger, one, doors.policy.answers_above())
    return Reply(WithdrawnView(seats=SeatsView.of(seats)))


async def _bulk(call: Call[NoQuery, BulkBody]) -> Reply:
    body = call.body
    key = key_header(call.headers)
    if key is None:
        raise Problem(
            "key_missing",
            "send an Idempotency-Key header, so that a repeat of this request can be told from a "
            "new one. Nothing was answered.",
        )
    given = BulkAnswer(
        verdict=body.verdict,
        by=call.who.actor,
        note=body.note,
        questions=[Shown(one.id, one.case_version) for one in body.questions],
        count=body.count,
        request_key=key,
        until=body.until,
    )
    return Reply(BulkView.model_validate(await call.doors.bulk.answer(given)))


_EXAMPLE: Final[dict[str, Any]] = {
    "verdict": "did-not-happen",
    "count": 1,
    "questions": [{"id": "01890a5d-ac96-774b-bcce-b302099a8057", "case_version": 14}],
    "note": "Stripe shows none of them.",
}

TABLE: Final[Table] = (
    Endpoint(
        method="POST",
        path="/v1/escalations/{id}/resolve",
        right=Right.ANSWER,
        name="resolve_escalation",
        summary="Answer it, or be the first of two to sign. The provider is asked first.",
        query=NoQuery,
        body=ResolveBody,
        answers={200: ResolvedView},
        handler=_resolve,
        refuses=(
            "unknown_escalation",
            "escalation_closed",
            "signed_already",
            "verdict_refused",
            "stale_case",
            "gate_stop",
            "stale_fence",
            "provider_auth",
            "provider_unreachable",
            "provider_inconsistent",
            "adapter_failed",
            "send_broke",
        ),
        example={"verdict": "happened", "reference": "re_1", "note": "Seen in the dashboard."},
    ),
    Endpoint(
        method="POST",
        path="/v1/escalations/{id}/withdraw",
        right=Right.ANSWER,
        name="withdraw_signature",
        summary="Take your signature back, until a second person has answered.",
        query=NoQuery,
        body=NoBody,
        answers={200: WithdrawnView},
        handler=_withdraw,
        refuses=("unknown_escalation", "not_signed"),
    ),
    Endpoint(
        method="POST",
        path="/v1/answers",
        right=Right.ANSWER,
        name="answer_many",
        summary="One answer to many questions that share a cause; each is verified by itself.",
        query=NoQuery,
        body=BulkBody,
        answers={200: BulkView},
        handler=_bulk,
        refuses=("unknown_escalation", "bulk_refused", "under_way", "key_missing", "key_reused"),
        example=_EXAMPLE,
        headers={"Idempotency-Key": "Your name for this request: a repeat finds what it did."},
    ),
)

"""Operations as they leave. Pure."""

from typing import Self
from uuid import UUID

from ledger.model import Attempt, Operation
from ledger.postgres.search_values import OperationLine
from sidecar.http.models import JsonObject, MoneyView, Utc, View, money_view


class AuthorizationView(View):
    """The proof that a decision covers exactly these parameters until a time."""

    id: UUID
    decided_by: str
    authorized_until: Utc
    resend_until: Utc
    revoked_at: Utc | None


class AttemptView(View):
    """One sending. Without `outcome` nobody knows yet."""

    number: int
    process: str
    started_at: Utc
    send_not_after: Utc
    finished_at: Utc | None
    outcome: str | None
    code: str | None
    http_status: int | None
    request_id: str | None
    replayed: bool
    late: bool

    @classmethod
    def of(cls, attempt: Attempt) -> Self:
        """An attempt."""
        answer = attempt.answer
        return cls(
            number=attempt.number,
            process=attempt.process,
            started_at=attempt.started_at,
            send_not_after=attempt.send_not_after,
            finished_at=attempt.finished_at,
            outcome=None if answer is None else answer.outcome.value,
            code=None if answer is None else answer.code,
            http_status=None if answer is None else answer.http_status,
            request_id=None if answer is None else answer.request_id,
            replayed=answer is not None and answer.replayed,
            late=attempt.late,
        )


class OperationView(View):
    """One authorized external effect, as it stands."""

    id: UUID
    proposal_id: UUID
    item: int
    type: str
    target: str
    livemode: bool
    money: MoneyView | None
    parameters: JsonObject
    request_digest: str
    idempotency_key: str
    authorization: AuthorizationView
    state: str
    in_doubt: bool
    escalated: bool
    given_up: bool
    case_version: int
    reference: str | None
    provider_status: str | None
    failure_code: str | None
    decision: str | None
    created_at: Utc
    next_check_at: Utc | None
    attempts: list[AttemptView]

    @classmethod
    def of(cls, operation: Operation) -> Self:
        """An operation."""
        return cls(
            id=operation.id,
            proposal_id=operation.proposal_id,
            item=operation.item,
            type=operation.type,
            target=operation.target,
            livemode=operation.subject.livemode,
            money=money_view(operation.subject.money),
            parameters=dict(operation.parameters),
            request_digest=operation.request_digest,
            idempotency_key=operation.idempotency_key,
            authorization=AuthorizationView.model_validate(operation.authorization),
            state=operation.state.value,
            in_doubt=operation.in_doubt,
            escalated=operation.escalated,
            given_up=operation.never_send,
            case_version=operation.case_version,
            reference=operation.reference,
            provider_status=operation.provider_status,
            failure_code=operation.failure_code,
            decision=operation.decision,
            created_at=operation.created_at,
            next_check_at=operation.next_check_at,
            attempts=[AttemptView.of(attempt) for attempt in operation.attempts],
        )


class OperationLineView(View):
    """An operation in a list."""

    id: UUID
    proposal_id: UUID
    item: int
    type: str
    target: str
    livemode: bool
    money: MoneyView | None
    state: str
    in_doubt: bool
    escalated: bool
    given_up: bool
    attempts: int
    reference: str | None
    failure_code: str | None
    decision: str | None
    created_at: Utc
    next_check_at: Utc | None

    @classmethod
    def of(cls, line: OperationLine) -> Self:
        """A line of a search."""
        return cls(
            id=line.id,
            proposal_id=line.proposal_id,
            item=line.item,
            type=line.type,
            target=line.target,
            livemode=line.livemode,
            money=money_view(line.money),
            state=line.state.value,
            in_doubt=line.in_doubt,
            escalated=line.escalated,
            given_up=line.never_send,
            attempts=line.attempt_count,
            reference=line.reference,
            failure_code=line.failure_code,
            decision=line.decision,
            created_at=line.created_at,
            next_check_at=line.next_check_at,
        )

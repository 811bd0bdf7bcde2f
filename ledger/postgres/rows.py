"""Between rows and values: the only place that knows the columns' names on the way out."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from ledger.model import (
    Answer,
    Attempt,
    Authorization,
    Json,
    Liveness,
    Money,
    Operation,
    Outcome,
    Refusal,
    State,
    Subject,
)

Row = Mapping[str, Any]
_ANSWERS: Final = tuple(field.name for field in fields(Answer))
_log = logging.getLogger(__name__)


def operation_of(row: Row) -> Operation:
    """One row of `read_operations` as a value."""
    return Operation(
        id=row["id"],
        proposal_id=row["proposal_id"],
        item=row["item"],
        type=row["type"],
        type_version=row["type_version"],
        adapter_version=row["adapter_version"],
        provider=row["provider"],
        family=row["family"],
        subject=Subject(
            account=row["account"],
            livemode=row["livemode"],
            object_id=row["object_id"],
            money=None
            if row["amount_minor"] is None
            else Money(row["amount_minor"], row["currency"]),
            connected_account=row["connected_account"],
        ),
        parameters=row["parameters"],
        request=bytes(row["request"]),
        request_digest=row["request_digest"],
        idempotency_key=row["idempotency_key"],
        snapshot=row["snapshot"],
        trace_context=row["trace_context"],
        created_at=row["created_at"],
        state=State(row["state"]),
        fence=row["fence"],
        case_version=row["case_version"],
        owner=row["owner"],
        lease_until=row["lease_until"],
        window_started_at=row["window_started_at"],
        send_not_after=row["send_not_after"],
        settled_at=row["settled_at"],
        next_check_at=row["next_check_at"],
        attempt_count=row["attempt_count"],
        in_doubt=row["in_doubt"],
        escalated=row["escalated"],
        acknowledged=tuple(row["acknowledged"]),
        never_send=row["never_send"],
        reference=row["reference"],
        provider_status=row["provider_status"],
        failure_code=row["failure_code"],
        result=row["result"],
        decision=row["decision"],
        decision_since=row["decision_since"],
        decision_count=row["decision_count"],
        watches=row["watches"],
        authorization=_authorization_of(row["auth"], row["revoked_at"]),
        attempts=_attempts_of(row["attempt_rows"]),
    )


def _authorization_of(row: Row, revoked_at: datetime | None) -> Authorization:
    return Authorization(
        id=UUID(row["id"]),
        proposal_id=UUID(row["proposal_id"]),
        decided_by=row["decided_by"],
        authorized_until=_time(row["authorized_until"]),
        resend_until=_time(row["resend_until"]),
        revoked_at=revoked_at,
        created_at=_time(row["created_at"]),
    )


def _attempts_of(rows: Sequence[Row]) -> tuple[Attempt, ...]:
    """The attempts that this code can read; recovery counts what is missing as ambiguous."""
    read: list[Attempt] = []
    for row in rows:
        try:
            read.append(_attempt_of(row))
        except (ValueError, TypeError, KeyError):
            _log.exception("attempt %s of %s can't be read", row["number"], row["operation_id"])
    return tuple(read)


def _attempt_of(row: Row) -> Attempt:
    return Attempt(
        number=row["number"],
        fence=row["fence"],
        owner=UUID(row["owner"]),
        process=row["process"],
        credential=row["credential"],
        started_at=_time(row["started_at"]),
        send_not_after=_time(row["send_not_after"]),
        answer=None if row["answer"] is None else answer_of(row["answer"]),
        finished_at=None if row["finished_at"] is None else _time(row["finished_at"]),
        late=row["late"],
        trace_id=row["trace_id"],
        span_id=row["span_id"],
    )


def answer_of(stored: Row) -> Answer:
    """The stored form of an answer as a value."""
    known = dict(stored)
    known["outcome"] = Outcome(known["outcome"])
    known["refusal"] = None if known["refusal"] is None else Refusal(known["refusal"])
    known["liveness"] = None if known["liveness"] is None else Liveness(known["liveness"])
    return Answer(**known)


def answer_as_json(answer: Answer) -> dict[str, Json]:
    """The stored form of an answer. A provider's text may hold what PostgreSQL can't."""
    values = ((name, getattr(answer, name)) for name in _ANSWERS)
    return {name: storable(value) if isinstance(value, str) else value for name, value in values}


def storable(text: str) -> str:
    """Text without NUL and lone surrogates, which become the replacement character."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


def _time(value: str) -> datetime:
    """Times inside JSON come as text; they are aware and UTC like the columns."""
    return datetime.fromisoformat(value)

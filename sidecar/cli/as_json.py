"""Values for programs: keys that stay, exact integers, times in UTC. Pure."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ledger.escalations import Escalation, Signature
from ledger.model import Attempt, Json, Money, Operation
from ledger.postgres.search_values import Decided, OperationLine, Told
from recovery.causes import Cause

Document = dict[str, Any]


def moment(at: datetime | None) -> str | None:
    """A time in UTC, ISO 8601."""
    return None if at is None else at.astimezone(UTC).isoformat()


def money(amount: Money | None) -> Document | None:
    """An amount in the provider's minor unit."""
    if amount is None:
        return None
    return {"amount_minor": amount.amount_minor, "currency": amount.currency}


def line(of: OperationLine) -> Document:
    """An operation in a list."""
    return {
        "id": str(of.id),
        "proposal_id": str(of.proposal_id),
        "item": of.item,
        "type": of.type,
        "target": of.target,
        "livemode": of.livemode,
        "money": money(of.money),
        "state": of.state.value,
        "in_doubt": of.in_doubt,
        "escalated": of.escalated,
        "given_up": of.never_send,
        "attempts": of.attempt_count,
        "reference": of.reference,
        "failure_code": of.failure_code,
        "decision": of.decision,
        "created_at": moment(of.created_at),
        "next_check_at": moment(of.next_check_at),
    }


def operation(of: Operation) -> Document:
    """An operation with everything that was approved, and where it stands."""
    return {
        "id": str(of.id),
        "proposal_id": str(of.proposal_id),
        "item": of.item,
        "type": of.type,
        "type_version": of.type_version,
        "target": of.target,
        "livemode": of.subject.livemode,
        "money": money(of.subject.money),
        "parameters": dict(of.parameters),
        "request_digest": of.request_digest,
        "idempotency_key": of.idempotency_key,
        "authorization": {
            "id": str(of.authorization.id),
            "decided_by": of.authorization.decided_by,
            "authorized_until": moment(of.authorization.authorized_until),
            "resend_until": moment(of.authorization.resend_until),
            "revoked_at": moment(of.authorization.revoked_at),
        },
        "state": of.state.value,
        "in_doubt": of.in_doubt,
        "escalated": of.escalated,
        "given_up": of.never_send,
        "case_version": of.case_version,
        "reference": of.reference,
        "provider_status": of.provider_status,
        "failure_code": of.failure_code,
        "decision": of.decision,
        "settled_at": moment(of.settled_at),
        "next_check_at": moment(of.next_check_at),
        "created_at": moment(of.created_at),
        "attempts": [attempt(one) for one in of.attempts],
    }


def attempt(of: Attempt) -> Document:
    """One sending; `outcome` is null where none was recorded."""
    answer = of.answer
    return {
        "number": of.number,
        "process": of.process,
        "started_at": moment(of.started_at),
        "send_not_after": moment(of.send_not_after),
        "finished_at": moment(of.finished_at),
        "outcome": None if answer is None else answer.outcome.value,
        "code": None if answer is None else answer.code,
        "http_status": None if answer is None else answer.http_status,
        "request_id": None if answer is None else answer.request_id,
        "replayed": answer is not None and answer.replayed,
        "late": of.late,
    }


def told(of: Told) -> Document:
    """An event of the history; `payload` is null where it was erased."""
    return {
        "seq": of.seq,
        "kind": of.kind,
        "actor": of.actor,
        "at": moment(of.at),
        "payload": None if of.payload is None else dict(of.payload),
    }


def decided(of: Decided) -> Document:
    """A decision of recovery with the case it rests on."""
    considered: Mapping[str, Json] = of.considered
    return {
        "at": moment(of.at),
        "row": of.line,
        "code": of.code,
        "action": of.action,
        "considered": dict(considered),
        "code_version": of.code_version,
        "table_version": of.table_version,
    }


def escalation(of: Escalation) -> Document:
    """A question with its dossier."""
    return {
        "id": str(of.id),
        "scope": of.scope,
        "operation_id": None if of.operation_id is None else str(of.operation_id),
        "provider": of.provider,
        "account": of.account,
        "reference": of.reference,
        "reasons": list(of.reasons),
        "members": [str(member) for member in of.members],
        "money": money(of.money),
        "opened_at": moment(of.opened_at),
        "window_ends_at": moment(of.window_ends_at),
        "claimed_by": of.claimed_by,
        "claimed_until": moment(of.claimed_until),
        "closed_at": moment(of.closed_at),
        "closed_by": of.closed_by,
        "verdict": of.verdict,
        "note": of.note,
        "dossier": dict(of.dossier),
        "evidence": None if of.evidence is None else dict(of.evidence),
        "asked": None if of.asked is None else dict(of.asked),
    }


def signature(of: Signature) -> Document:
    """The first of two people has signed an answer."""
    return {
        "escalation_id": str(of.escalation_id),
        "by": of.signer,
        "answer": dict(of.answer),
        "note": of.note,
        "signed_at": moment(of.signed_at),
        "case_version": of.case_version,
        "counts": of.counts,
    }


def cause(of: Cause) -> Document:
    """Questions that come from the same thing."""
    return {
        "provider": of.provider,
        "account": of.account,
        "reasons": list(of.reasons),
        "since": moment(of.since),
        "until": moment(of.until),
        "silent": of.silent,
        "escalation_ids": [str(one) for one in of.escalation_ids],
        "sums": dict(of.sums),
    }

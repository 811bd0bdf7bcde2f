"""Raw material for recovery's pure functions: an operation, its attempts, a look-up, a world."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from dispatcher.provider import Capabilities, Effect, KeyPromise, Look, Waits
from ledger.model import (
    Answer,
    Attempt,
    Authorization,
    Liveness,
    Marker,
    Money,
    Operation,
    Outcome,
    Refusal,
    State,
    Subject,
)
from recovery.assess import World

T0: Final = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
"""When the operation was created; every time below is seconds after it."""

LEDGER: Final = UUID(int=0xA1)
OTHER_LEDGER: Final = UUID(int=0xA2)
OPERATION: Final = UUID(int=0xB1)
SIBLING: Final = UUID(int=0xB2)
WORKER: Final = UUID(int=0xC1)
THIRTY: Final = Money(3000, "eur")
HOUR: Final = 3600.0

REFUND: Final = Capabilities(
    key=KeyPromise(24 * HOUR, HOUR, spans_credentials=False),
    looks_up=True,
    look_up_lag_s=0,
    processing_margin_s=180,
    target_state=False,
)
CANCEL: Final = replace(REFUND, key=None, target_state=True)
MAIL: Final = replace(REFUND, key=None, looks_up=False)

LOST: Final = None
"""The answer of an attempt that nobody heard."""
NOT_SENT: Final = Answer(Outcome.NOT_SENT, code="connect_failed")
UNAUTHORIZED: Final = Answer(Outcome.REFUSED, Refusal.BEFORE_ENDPOINT, http_status=401)
IN_USE: Final = Answer(Outcome.AMBIGUOUS, http_status=409, in_use=True)
MISMATCH: Final = Answer(Outcome.AMBIGUOUS, http_status=400, mismatch=True)
SAVED_500: Final = Answer(Outcome.AMBIGUOUS, http_status=500, saved_500=True)
REFUSED: Final = Answer(Outcome.REFUSED, Refusal.FINAL, key_verdict=True, http_status=400)
NOT_FOUND: Final = Answer(Outcome.REFUSED, Refusal.FINAL, http_status=404)
ACCEPTED: Final = Answer(Outcome.ACCEPTED, reference="re_1", liveness=Liveness.SUCCEEDED)


def at(seconds: float) -> datetime:
    """A moment."""
    return T0 + timedelta(seconds=seconds)


def attempt(
    number: int, started: float, answer: Answer | None, *, heard: float = 1, credential: str = "k1"
) -> Attempt:
    """One attempt, with a send budget of 5 s; its answer came `heard` seconds after its start."""
    return Attempt(
        number=number,
        fence=number,
        owner=WORKER,
        process="test",
        credential=credential,
        started_at=at(started),
        send_not_after=at(started + 5),
        answer=answer,
        finished_at=None if answer is None else at(started + heard),
    )


def operation(*attempts: Attempt, **changes: Any) -> Operation:
    """A refund of 30.00 EUR with these attempts."""
    made = Operation(
        id=OPERATION,
        proposal_id=UUID(int=1),
        item=0,
        type="test.refund",
        type_version=1,
        adapter_version="1",
        provider="test",
        family="refund",
        subject=Subject("acct_1", livemode=False, object_id="ch_1", money=THIRTY),
        parameters={},
        request=b"{}",
        request_digest="d",
        idempotency_key=str(OPERATION),
        snapshot={"references": ["re_old"]},
        trace_context=None,
        created_at=T0,
        state=State.SENT if attempts else State.CREATED,
        fence=1,
        case_version=1,
        owner=None,
        lease_until=None,
        window_started_at=None,
        send_not_after=None,
        settled_at=None,
        next_check_at=None,
        attempt_count=len(attempts),
        in_doubt=True,
        escalated=False,
        acknowledged=(),
        never_send=False,
        reference=None,
        provider_status=None,
        failure_code=None,
        result=None,
        decision=None,
        decision_since=None,
        decision_count=0,
        watches=0,
        authorization=Authorization(
            id=UUID(int=2),
            proposal_id=UUID(int=1),
            decided_by="mara",
            authorized_until=at(HOUR),
            resend_until=at(23 * HOUR),
            revoked_at=None,
            created_at=T0,
        ),
        attempts=attempts,
    )
    return replace(made, **changes)


def effect(reference: str = "re_1", marker: Marker | None = None, **changes: Any) -> Effect:
    """An effect at the provider; ours unless told otherwise."""
    made = Effect(
        reference=reference,
        marker=marker or Marker(LEDGER, 1, OPERATION),
        subject_matches=True,
        money=THIRTY,
        liveness=Liveness.SUCCEEDED,
        provider_status="succeeded",
    )
    return replace(made, **changes)


def look(*effects: Effect, **changes: Any) -> Look:
    """A look-up that saw these effects."""
    return replace(Look(effects=effects), **changes)


def world(capabilities: Capabilities = REFUND, **changes: Any) -> World:
    """A quiet world with yesterday's credential."""
    values: Mapping[str, Any] = {
        "ledger_id": LEDGER,
        "epoch": 1,
        "capabilities": capabilities,
        "waits": Waits(),
        "credential": "k1",
        **changes,
    }
    return World(**values)

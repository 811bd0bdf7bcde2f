"""Operations, configurations and deadlines for tests of the adapters."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from dispatcher.deadline import Deadline, SystemClock
from dispatcher.providers.stripe import StripeConfig
from dispatcher.providers.stripe.base import StripeType
from ledger.canonical import digest_of_bytes
from ledger.model import Authorization, Marker, Money, Operation, State, Subject

KEY: Final = "sk_test_sandbox"
LEDGER: Final = UUID("11111111-1111-4111-8111-111111111111")
NOW: Final = datetime(2026, 11, 30, 12, tzinfo=UTC)
SUBJECT: Final = Subject("acct_sandbox", False, "ch_1", Money(1_000, "usd"))


def config(url: str, **values: Any) -> StripeConfig:
    """A configuration with short times, for a server on this machine."""
    defaults: dict[str, Any] = {"api_key": KEY, "salt": b"salt", "connect_s": 2.0, "call_s": 5.0}
    return StripeConfig(base_url=url, **{**defaults, **values})


def soon(budget_s: float = 5.0) -> Deadline:
    """A deadline that starts now."""
    return Deadline.after(budget_s, SystemClock())


@dataclass(slots=True)
class HandClock:
    """A clock that a test moves."""

    at_s: float = 100.0

    def boot_s(self) -> float:
        """The time that it was set to."""
        return self.at_s


def operation(
    kind: StripeType,
    *,
    subject: Subject = SUBJECT,
    parameters: Mapping[str, Any] | None = None,
    operation_id: UUID | None = None,
    **changed: Any,
) -> Operation:
    """An operation of that type as the ledger would hand it over."""
    made = operation_id or uuid4()
    request = kind.build_request(parameters or {}, subject, Marker(LEDGER, 1, made))
    plain = Operation(
        id=made,
        proposal_id=uuid4(),
        item=0,
        type=kind.name,
        type_version=kind.version,
        adapter_version=kind.adapter_version,
        provider=kind.provider,
        family=kind.family,
        subject=subject,
        parameters=parameters or {},
        request=request,
        request_digest=digest_of_bytes(request),
        idempotency_key=str(made),
        snapshot={"references": [], "remaining_minor": 5_000, "gone": [], "facts": {}},
        trace_context=None,
        created_at=NOW,
        state=State.SENT,
        fence=1,
        case_version=1,
        owner=None,
        lease_until=None,
        window_started_at=NOW,
        send_not_after=None,
        settled_at=None,
        next_check_at=None,
        attempt_count=1,
        in_doubt=False,
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
            id=uuid4(),
            proposal_id=uuid4(),
            decided_by="ada",
            authorized_until=NOW + timedelta(hours=1),
            resend_until=NOW + timedelta(hours=23),
            revoked_at=None,
            created_at=NOW,
        ),
    )
    return replace(plain, **changed)


def refund_body(of: Operation, **changed: Any) -> dict[str, Any]:
    """What Stripe answers to that refund."""
    money = of.subject.money or Money(0, "usd")
    return {
        "id": "re_1",
        "object": "refund",
        "amount": money.amount_minor,
        "currency": money.currency,
        "charge": of.subject.object_id,
        "created": 1_796_000_000,
        "metadata": {
            "outlive_ledger": str(LEDGER),
            "outlive_epoch": "1",
            "outlive_operation": str(of.id),
        },
        "status": "succeeded",
        **changed,
    }

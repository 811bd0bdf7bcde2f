"""What one refund means for an operation. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from pydantic import ValidationError

from dispatcher.provider import Effect
from dispatcher.providers.stripe.base import METADATA
from dispatcher.providers.stripe.classify import answer_of
from dispatcher.providers.stripe.heard import Heard
from dispatcher.providers.stripe.objects import Refund
from ledger.model import Answer, Liveness, Marker, Money, Outcome, Subject

_LIVENESS: Final = {
    "succeeded": Liveness.SUCCEEDED,
    "pending": Liveness.PENDING,
    "requires_action": Liveness.REQUIRES_ACTION,
    "failed": Liveness.DEAD,
    "canceled": Liveness.DEAD,
}
"""Source: https://docs.stripe.com/api/refunds/object. Any other status may stand: pending."""


def liveness(refund: Refund) -> Liveness:
    """Whether the refund stands."""
    return _LIVENESS.get(refund.status or "", Liveness.PENDING)


def marker_of(metadata: Mapping[str, str] | None) -> Marker | None:
    """Read our marker; `None` where it is missing, incomplete or spoilt."""
    ledger_id, epoch, operation_id = ((metadata or {}).get(name, "") for name in METADATA)
    try:
        return Marker(UUID(ledger_id), int(epoch), UUID(operation_id))
    except ValueError:
        return None


def effect_of(refund: Refund, subject: Subject) -> Effect:
    """The refund as recovery sees it."""
    return Effect(
        reference=refund.id,
        marker=marker_of(refund.metadata),
        subject_matches=not _strays(refund, subject),
        money=Money(refund.amount, refund.currency),
        liveness=liveness(refund),
        provider_status=refund.status or "unknown",
        pending_reason=refund.pending_reason,
        created_at=datetime.fromtimestamp(refund.created, UTC),
        object_id=refund.charge,
    )


def judge(heard: Heard, subject: Subject, operation_id: UUID) -> Answer:
    """Accept a 2xx only if it shows exactly the refund that was asked for.

    An empty object with status 200 is an answer that tells nothing: ambiguous.
    """
    answer = replace(answer_of(heard), code="answer_mismatch")
    try:
        refund = Refund.model_validate(heard.data)
    except ValidationError:
        return replace(answer, detail="the answer is no refund")
    answer = replace(answer, reference=refund.id)
    wrong = _strays(refund, subject)
    if Money(refund.amount, refund.currency) != subject.money:
        wrong.append("amount or currency")
    marker = marker_of(refund.metadata)
    if marker is None or marker.operation_id != operation_id:
        wrong.append("marker")
    if wrong:
        return replace(answer, detail=f"the answer differs in: {', '.join(wrong)}")
    return replace(
        answer,
        outcome=Outcome.ACCEPTED,
        code=None,
        liveness=liveness(refund),
        provider_status=refund.status,
    )


def _strays(refund: Refund, subject: Subject) -> list[str]:
    """In what the refund's subject differs, side effects that nobody asked for included."""
    compared = (
        ("charge", refund.charge == subject.object_id),
        ("mode", refund.livemode in {None, subject.livemode}),
        ("transfer reversal", refund.transfer_reversal is None),
        ("source transfer reversal", refund.source_transfer_reversal is None),
    )
    return [name for name, fits in compared if not fits]

"""What an effect in the provider's list means for the ledger. Pure.

Other ledgers' markers are none of our business: many ledgers may share one account.
"""

from enum import StrEnum
from uuid import UUID

from dispatcher.sweeping import Found
from ledger.model import Json, Liveness, Marker, State
from ledger.sweeps import Known
from recovery.words import explain


class Place(StrEnum):
    """What is to be done about an effect."""

    KNOWN = "known"
    """Nothing: the record knows it, or recovery looks at it anyway, or a person does."""
    WAKE = "wake"
    """Its operation's record does not know it: have it looked at now."""
    UNRECORDED = "unrecorded"
    """No operation accounts for it: a person is asked."""


def own_marker(found: Found, ledger_id: UUID) -> Marker | None:
    """The effect's marker, if it is this ledger's."""
    marker = found.effect.marker
    return marker if marker is not None and marker.ledger_id == ledger_id else None


def place(found: Found, known: Known) -> Place:
    """Judge an effect that bears this ledger's marker."""
    stands = found.effect.liveness is not Liveness.DEAD
    if known.state is None:
        return Place.KNOWN if known.asked else Place.UNRECORDED
    if known.escalated:
        return Place.KNOWN
    match known.state:
        case State.CREATED:
            is_new = True
        case State.SENT:
            is_new = not known.is_watched
        case State.FAILED:
            is_new = stands and "LATE_EFFECT" not in known.acknowledged
        case State.CONFIRMED:
            other = known.reference != found.effect.reference
            is_new = stands and other and "DUPLICATE_EFFECT" not in known.acknowledged
    return Place.WAKE if is_new else Place.KNOWN


def told(found: Found, marker: Marker, known: Known, account: str) -> dict[str, Json]:
    """Everything that is known of an effect without an operation."""
    effect, money = found.effect, found.effect.money
    return {
        "why": explain("UNRECORDED_EFFECT"),
        "effect": {
            "reference": effect.reference,
            "account": account,
            "object": found.object_id,
            "amount_minor": None if money is None else money.amount_minor,
            "currency": None if money is None else money.currency,
            "status": effect.provider_status,
            "created_at": None if effect.created_at is None else effect.created_at.isoformat(),
        },
        "marker": {
            "ledger_id": str(marker.ledger_id),
            "epoch": marker.epoch,
            "operation_id": str(marker.operation_id),
        },
        "proposal": None
        if known.proposal_id is None
        else {"id": str(known.proposal_id), "state": known.proposal_state},
        "provider": {
            "effects": [
                {
                    "reference": effect.reference,
                    "amount_minor": None if money is None else money.amount_minor,
                    "currency": None if money is None else money.currency,
                    "status": effect.provider_status,
                    "carries_our_id": str(marker.operation_id),
                }
            ]
        },
        "answers": {"seen": "Seen: you know what it is; closes the question, with a note."},
    }

"""Stripe's webhooks: whose they are, and which operation they may concern. Pure.

They may come before the answer, several times, in any order; so they wake an operation up and
say nothing about its state. Source: https://docs.stripe.com/webhooks#event-delivery-behaviors
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast
from uuid import UUID

import stripe

from dispatcher.providers.stripe.base import METADATA
from ledger.errors import InvalidInput, OutliveError

TOLERANCE_S: Final = 300
"""How old a signature may be. Source: https://docs.stripe.com/webhooks#replay-attacks"""
_ID_MOST: Final = 255


class BadSignature(OutliveError):
    """Not signed with any of our secrets, or too long ago."""

    code = "bad_signature"


@dataclass(frozen=True, slots=True)
class StripeEvent:
    """What an event tells us: where to look, never what is there."""

    id: str
    type: str
    object_id: str | None
    ledger_id: UUID | None
    operation_id: UUID | None
    """From the object's metadata; counts only with our ledger's id beside it."""
    idempotency_key: UUID | None
    """The key of the request that caused it, where it has the form of ours."""


def require_signature(body: bytes, header: str | None, secrets: Sequence[str]) -> None:
    """Check the signature with each secret: during a roll two are valid.

    Raises:
        BadSignature: None fits.
    """
    for secret in secrets:
        try:
            stripe.WebhookSignature.verify_header(  # pyright: ignore[reportUnknownMemberType]  its tolerance is untyped
                body, header, secret, TOLERANCE_S
            )
        except (stripe.SignatureVerificationError, UnicodeDecodeError):
            continue
        return
    raise BadSignature(
        "the Stripe-Signature header fits none of OUTLIVE_STRIPE_WEBHOOK_SECRETS, or is older "
        f"than {TOLERANCE_S} s; nothing was stored"
    )


def read_event(body: bytes) -> StripeEvent:
    """Read a signed event.

    Raises:
        InvalidInput: It is no event.
    """
    event = _object(_parsed(body))
    event_id, kind = event.get("id"), event.get("type")
    if not (_is_text(event_id) and _is_text(kind)):
        raise InvalidInput("the body is no Stripe event")
    about = _object(_object(event.get("data")).get("object"))
    metadata = _object(about.get("metadata"))
    object_id: object = about.get("id")
    ledger_key, _, operation_key = METADATA
    return StripeEvent(
        id=str(event_id),
        type=str(kind),
        object_id=str(object_id) if _is_text(object_id) else None,
        ledger_id=_uuid(metadata.get(ledger_key)),
        operation_id=_uuid(metadata.get(operation_key)),
        idempotency_key=_uuid(_object(event.get("request")).get("idempotency_key")),
    )


def _parsed(body: bytes) -> object:
    """Stripe's events may hold floats in objects of no interest here, so this is plain JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("the body is no JSON") from error


def _object(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _ID_MOST and "\x00" not in value


def _uuid(value: object) -> UUID | None:
    if not isinstance(value, str):
        return None
    try:
        return UUID(value)
    except ValueError:
        return None

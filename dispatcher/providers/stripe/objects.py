"""What we read of Stripe's objects: the fields we depend on, strictly typed. Pure.

An answer that does not fit is no answer. Ids are never expanded, so they are plain text.
Source: https://docs.stripe.com/api
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


class Seen(BaseModel):
    """Base: strict types, other fields ignored."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    id: str


class Requirements(BaseModel):
    """Why an account may be restricted."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    disabled_reason: str | None = None


class Account(Seen):
    """Source: https://docs.stripe.com/api/accounts/object."""

    object: Literal["account"]
    charges_enabled: bool = True
    details_submitted: bool = True
    requirements: Requirements | None = None


class Charge(Seen):
    """Source: https://docs.stripe.com/api/charges/object."""

    object: Literal["charge"]
    amount_captured: int
    amount_refunded: int
    captured: bool
    currency: str
    disputed: bool
    livemode: bool
    payment_intent: str | None = None
    status: str


class PaymentIntent(Seen):
    """Source: https://docs.stripe.com/api/payment_intents/object."""

    object: Literal["payment_intent"]
    latest_charge: str | None = None
    status: str


class Refund(Seen):
    """Source: https://docs.stripe.com/api/refunds/object. It has no `livemode` of its own."""

    object: Literal["refund"]
    amount: int
    charge: str | None = None
    created: int
    currency: str
    livemode: bool | None = None
    metadata: dict[str, str] | None = None
    pending_reason: str | None = None
    source_transfer_reversal: str | None = None
    status: str | None = None
    transfer_reversal: str | None = None


class Dispute(Seen):
    """Source: https://docs.stripe.com/api/disputes/object."""

    object: Literal["dispute"]
    charge: str
    status: str


class Subscription(Seen):
    """Source: https://docs.stripe.com/api/subscriptions/object."""

    object: Literal["subscription"]
    livemode: bool
    status: str


class Page(BaseModel):
    """One page of a list. Source: https://docs.stripe.com/api/pagination."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    object: Literal["list"]
    data: list[dict[str, Any]]
    has_more: bool

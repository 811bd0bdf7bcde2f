"""What an agent may ask for, strictly: no unknown field, no float, nothing coerced. Pure."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from dispatcher.providers.stripe.money import UnknownCurrency, major, step_minor
from ledger.errors import InvalidParameters
from ledger.model import Json, Money

AMOUNT_MOST: Final = 999_999_999_999
"""Twelve digits. Source: https://docs.stripe.com/currencies#maximum-charge-amounts"""

AccountId = Annotated[str, Field(pattern=r"^acct_[A-Za-z0-9_]{1,200}$")]
ChargeId = Annotated[str, Field(pattern=r"^(ch|py)_[A-Za-z0-9_]{1,200}$")]
PaymentIntentId = Annotated[str, Field(pattern=r"^pi_[A-Za-z0-9_]{1,200}$")]
SubscriptionId = Annotated[str, Field(pattern=r"^sub_[A-Za-z0-9_]{1,200}$")]


class Parameters(BaseModel):
    """Base of all parameters."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, use_attribute_docstrings=True
    )

    connected_account: AccountId | None = None
    """For what lives on a connected account (Stripe Connect); otherwise leave it out."""


class RefundParameters(Parameters):
    """Give back all or part of a charge. Source: https://docs.stripe.com/api/refunds/create."""

    charge: ChargeId | None = None
    """What to refund: this or `payment_intent`, exactly one."""
    payment_intent: PaymentIntentId | None = None
    """What to refund: this or `charge`, exactly one."""
    amount_minor: Annotated[int, Field(gt=0, le=AMOUNT_MOST)] | None = None
    """In Stripe's minor unit (12.34 EUR is 1234); left out: all that is left when proposed."""
    currency: Annotated[str, Field(pattern=r"^[a-z]{3}$")]
    """The charge's, in lower case: proof that both sides mean the same money."""
    reason: Literal["duplicate", "fraudulent", "requested_by_customer"] | None = None
    """What Stripe is told; `fraudulent` also puts card and e-mail on its block lists."""

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        if (self.charge is None) == (self.payment_intent is None):
            raise ValueError("give exactly one of charge and payment_intent")
        return self

    @model_validator(mode="after")
    def _whole_steps(self) -> Self:
        try:
            step = step_minor(self.currency)
        except UnknownCurrency as error:
            raise ValueError(str(error)) from None
        if self.amount_minor is not None and self.amount_minor % step:
            told = major(Money(self.amount_minor, self.currency))
            raise ValueError(f"{told}: amount_minor must be a multiple of {step} here")
        return self


class CancelParameters(Parameters):
    """End a subscription now. Source: https://docs.stripe.com/api/subscriptions/cancel."""

    subscription: SubscriptionId
    """The subscription that ends at once."""
    invoice_now: bool | None = None
    """Make a last invoice for usage and prorations not invoiced yet."""
    prorate: bool | None = None
    """Credit the unused rest of the period."""


Model = TypeVar("Model", bound=Parameters)

_FORMS: Final = {
    "charge": "write a charge's id (ch_… or py_…)",
    "connected_account": "write an account's id (acct_…)",
    "currency": "write three letters in lower case, as eur",
    "payment_intent": "write a payment intent's id (pi_…)",
    "subscription": "write a subscription's id (sub_…)",
}
"""What a pattern means, in words."""


def checked(model: type[Model], raw: Mapping[str, Json]) -> Model:
    """Validate parameters.

    Raises:
        InvalidParameters: Naming each field and what is wrong with it, never its value.
    """
    try:
        return model.model_validate(dict(raw))
    except ValidationError as error:
        problems = {
            ".".join(str(part) for part in item["loc"]) or "parameters": _in_words(item)
            for item in error.errors(include_input=False, include_url=False)
        }
        raise InvalidParameters(problems) from None


def _in_words(problem: ErrorDetails) -> str:
    """The problem as a person would say it; the validator's own words where these do."""
    field = str(problem["loc"][0]) if problem["loc"] else ""
    if problem["type"] == "string_pattern_mismatch" and field in _FORMS:
        return _FORMS[field]
    return problem["msg"].removeprefix("Value error, ")


def schema(model: type[Parameters]) -> Mapping[str, Json]:
    """The JSON Schema of parameters. What spans several fields is checked by `checked` only."""
    return model.model_json_schema()


def normal(parameters: Parameters) -> dict[str, Json]:
    """The form that is stored: only what was given."""
    return parameters.model_dump(exclude_none=True)

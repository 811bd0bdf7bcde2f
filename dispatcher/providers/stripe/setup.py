"""The operation types of one Stripe credential, on one shared pool of connections."""

from typing import Final

from dispatcher.providers.stripe.api import StripeApi
from dispatcher.providers.stripe.base import StripeType
from dispatcher.providers.stripe.config import StripeConfig
from dispatcher.providers.stripe.refund import StripeRefund
from dispatcher.providers.stripe.subscription_cancel import StripeSubscriptionCancel

TYPE_NAMES: Final = (StripeRefund.name, StripeSubscriptionCancel.name)
"""What there is, for those who have no key at hand."""


def stripe_types(config: StripeConfig) -> tuple[StripeType, ...]:
    """Every Stripe type for one configuration. Closing one of them closes the shared pool."""
    api = StripeApi(config)
    return StripeRefund(api), StripeSubscriptionCancel(api)

"""Stripe: refunds and cancelled subscriptions, through Stripe's own SDK."""

from dispatcher.providers.stripe.base import StripeType
from dispatcher.providers.stripe.config import API_VERSION, StripeConfig
from dispatcher.providers.stripe.fingerprint import fingerprint
from dispatcher.providers.stripe.handshake import is_sandbox
from dispatcher.providers.stripe.setup import TYPE_NAMES, stripe_types

__all__ = [
    "API_VERSION",
    "TYPE_NAMES",
    "StripeConfig",
    "StripeType",
    "fingerprint",
    "is_sandbox",
    "stripe_types",
]

"""Which endpoint answers which method and path."""

import re
from collections.abc import Callable
from typing import Final

from sandbox import (
    balances,
    charges,
    disputes,
    events,
    payment_intents,
    payouts,
    refunds,
    subscriptions,
    transfers,
)
from sandbox.call import Call
from sandbox.errors import ApiError, Json

Endpoint = Callable[[Call], Json]

_TABLE: Final[tuple[tuple[str, str, Endpoint], ...]] = (
    ("GET", "/v1/account", balances.own_account),
    ("GET", "/v1/accounts/{id}", balances.account),
    ("GET", "/v1/balance", balances.balance),
    ("GET", "/v1/charges", charges.listing),
    ("GET", "/v1/charges/{id}", charges.retrieve),
    ("POST", "/v1/charges/{id}", charges.update),
    ("GET", "/v1/disputes", disputes.listing),
    ("GET", "/v1/disputes/{id}", disputes.retrieve),
    ("GET", "/v1/events", events.listing),
    ("GET", "/v1/events/{id}", events.retrieve),
    ("GET", "/v1/payment_intents", payment_intents.listing),
    ("GET", "/v1/payment_intents/{id}", payment_intents.retrieve),
    ("POST", "/v1/payment_intents/{id}/capture", payment_intents.capture),
    ("POST", "/v1/payment_intents/{id}/cancel", payment_intents.cancel),
    ("GET", "/v1/payouts", payouts.listing),
    ("POST", "/v1/payouts", payouts.create),
    ("GET", "/v1/payouts/{id}", payouts.retrieve),
    ("POST", "/v1/payouts/{id}/cancel", payouts.cancel),
    ("GET", "/v1/refunds", refunds.listing),
    ("POST", "/v1/refunds", refunds.create),
    ("GET", "/v1/refunds/{id}", refunds.retrieve),
    ("POST", "/v1/refunds/{id}", refunds.update),
    ("POST", "/v1/refunds/{id}/cancel", refunds.cancel),
    ("GET", "/v1/subscriptions", subscriptions.listing),
    ("GET", "/v1/subscriptions/{id}", subscriptions.retrieve),
    ("POST", "/v1/subscriptions/{id}", subscriptions.update),
    ("DELETE", "/v1/subscriptions/{id}", subscriptions.cancel),
    ("GET", "/v1/transfers", transfers.listing),
    ("POST", "/v1/transfers", transfers.create),
    ("GET", "/v1/transfers/{id}", transfers.retrieve),
    ("POST", "/v1/transfers/{id}", transfers.update),
    ("GET", "/v1/transfers/{id}/reversals", transfers.reversals),
    ("POST", "/v1/transfers/{id}/reversals", transfers.reverse),
    ("GET", "/v1/transfers/{id}/reversals/{id}", transfers.reversal),
)


def pattern(path: str) -> re.Pattern[str]:
    """The expression for a path in which `{id}` stands for any one segment."""
    return re.compile(path.replace("{id}", "([^/]+)"))


_ROUTES = tuple((method, pattern(path), endpoint) for method, path, endpoint in _TABLE)


def find(method: str, path: str) -> tuple[Endpoint, tuple[str, ...]]:
    """The endpoint of a request and the ids in its path; 404 in Stripe's shape if none."""
    for wanted, expression, endpoint in _ROUTES:
        found = expression.fullmatch(path)
        if wanted == method and found is not None:
            return endpoint, found.groups()
    raise ApiError(404, f"Unrecognized request URL ({method}: {path}).")

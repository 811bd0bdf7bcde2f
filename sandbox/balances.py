"""The account and its balance, which follows from what went out."""

from sandbox import params as read
from sandbox.call import Call
from sandbox.errors import ApiError, Json
from sandbox.state import OPENING_BALANCE_MINOR, Realm

DEAD = frozenset({"failed", "canceled"})


def available_minor(realm: Realm, currency: str) -> int:
    """What is left of the opening balance after everything that went out and stands."""
    left = realm.opening_minor.get(currency, OPENING_BALANCE_MINOR)
    for thing in realm.of("refund", "payout", "transfer"):
        waits = thing.get("pending_reason") == "insufficient_funds"
        if thing["currency"] == currency and thing.get("status") not in DEAD and not waits:
            left -= thing["amount"] - thing.get("amount_reversed", 0)
    return left


def balance(call: Call) -> Json:
    """GET /v1/balance."""
    read.allow(call.params)
    realm = call.realm
    used = {thing["currency"] for thing in realm.objects.values() if "currency" in thing}
    currencies = sorted(used | set(realm.opening_minor) | {"usd"})
    return {
        "object": "balance",
        "available": [
            {"amount": available_minor(realm, currency), "currency": currency}
            for currency in currencies
        ],
        "pending": [{"amount": 0, "currency": currency} for currency in currencies],
        "livemode": realm.livemode,
    }


def own_account(call: Call) -> Json:
    """GET /v1/account."""
    return call.world.account(call.realm.account)


def account(call: Call) -> Json:
    """GET /v1/accounts/{id}: one's own, or one that is connected to it."""
    asked = call.ids[0]
    if call.world.platforms.get(asked) != call.realm.account and asked != call.realm.account:
        raise ApiError(
            403, f"No access to account '{asked}', or it does not exist.", code="account_invalid"
        )
    return call.world.account(asked)


def require(realm: Realm, currency: str, amount: int) -> None:
    """Refuse what the balance does not cover."""
    if available_minor(realm, currency) < amount:
        raise ApiError.refused("The available balance is too small.", code="balance_insufficient")

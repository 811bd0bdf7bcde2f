"""Filling a realm: accounts, keys, charges, payment intents, subscriptions, disputes."""

from typing import Any

from sandbox import charges, disputes, payment_intents, subscriptions
from sandbox.call import Call
from sandbox.errors import ApiError, Json
from sandbox.state import ApiKey, new_id

Seeded = dict[str, list[Json]]


def seed(call: Call, wanted: Json) -> Seeded:
    """Create what `wanted` lists; answers the objects by kind.

    `bulk` makes many alike charges from one line:
    `{"charges": 38, "prefix": "ch_demo_", "amount": 4900, "payment_intents": true}`.
    """
    made: Seeded = {}
    for kind, value in wanted.items():
        if kind in {"account", "livemode"}:
            continue
        make = _MAKERS.get(kind)
        if make is None:
            raise ApiError.invalid(f"cannot seed {kind}", param=kind)
        for given in value:
            for thing in make(call, dict(given)):
                made.setdefault(thing["object"] + "s", []).append(thing)
    call.world.changes.notify()
    return made


def _plant(call: Call, thing: Json) -> Json:
    """Add an object that has always been there, so that no list lag hides it."""
    call.realm.put(thing, 0.0)
    return thing


def _account(call: Call, given: Json) -> list[Json]:
    platform = given.pop("platform", call.realm.account)
    account = call.world.account(given["id"], platform=platform)
    account.update(given)
    return [account]


def _key(call: Call, given: Json) -> list[Json]:
    given.setdefault("account", call.realm.account)
    given.setdefault("livemode", call.realm.livemode)
    call.world.api_keys[given["secret"]] = ApiKey(**given)
    return []


def _charge(call: Call, given: Json) -> list[Json]:
    """One charge; `payment_intent` true makes it one of its own, `amount_refunded` a refund."""
    intent: Any = given.pop("payment_intent", None)
    refunded = int(given.pop("amount_refunded", 0))
    charge = _plant(call, charges.build(call, given))
    made = [charge]
    if intent:
        known = {"id": intent} if isinstance(intent, str) else {}
        made.append(_plant(call, payment_intents.build(call, known, charge)))
        charge["payment_intent"] = made[-1]["id"]
    if refunded:
        made.append(_plant(call, _old_refund(call, charge, refunded)))
        charges.refresh(call.realm, charge, call.world.switches)
    return made


def _old_refund(call: Call, charge: Json, amount: int) -> Json:
    refund = call.base("re", "refund") | {
        "amount": amount,
        "balance_transaction": new_id("txn"),
        "charge": charge["id"],
        "currency": charge["currency"],
        "failure_reason": None,
        "payment_intent": charge["payment_intent"],
        "pending_reason": None,
        "reason": None,
        "status": "succeeded",
    }
    del refund["livemode"]
    return refund


def _bulk(call: Call, given: Json) -> list[Json]:
    count, prefix = int(given.pop("charges")), given.pop("prefix", "ch_bulk_")
    intents, step = given.pop("payment_intents", False), int(given.pop("amount_step", 0))
    made: list[Json] = []
    for number in range(1, count + 1):
        charge = {**given, "id": f"{prefix}{number:03d}", "payment_intent": intents}
        charge["amount"] = int(given.get("amount", 5_000)) + step * (number - 1)
        made += _charge(call, charge)
    return made


def _intent(call: Call, given: Json) -> list[Json]:
    return [_plant(call, payment_intents.build(call, given, None))]


def _subscription(call: Call, given: Json) -> list[Json]:
    return [_plant(call, subscriptions.build(call, given))]


def _dispute(call: Call, given: Json) -> list[Json]:
    charge = call.get("charge", given.pop("charge"))
    return [disputes.open_dispute(call, charge, given)]


def _balance(call: Call, given: Json) -> list[Json]:
    call.realm.opening_minor[given["currency"]] = int(given["amount"])
    return []


_MAKERS = {
    "accounts": _account,
    "keys": _key,
    "charges": _charge,
    "bulk": _bulk,
    "payment_intents": _intent,
    "subscriptions": _subscription,
    "disputes": _dispute,
    "balances": _balance,
}

"""Charges, and the amounts on them that follow from their refunds and disputes."""

from sandbox import params as read
from sandbox.call import Call
from sandbox.errors import Json
from sandbox.lists import PAGING, matching, page
from sandbox.state import Realm, new_id
from sandbox.switches import Switches

DEAD = frozenset({"failed", "canceled"})
OPEN_DISPUTES = frozenset({"needs_response", "under_review", "warning_needs_response"})


def retrieve(call: Call) -> Json:
    """GET /v1/charges/{id}."""
    return call.get("charge", call.ids[0])


def update(call: Call) -> Json:
    """POST /v1/charges/{id}: metadata and description."""
    read.allow(call.params, "metadata", "description")
    charge = call.get("charge", call.ids[0])
    read.merge_metadata(charge, call.params)
    charge["description"] = read.text(call.params, "description") or charge["description"]
    return charge


def listing(call: Call) -> Json:
    """GET /v1/charges."""
    read.allow(call.params, *PAGING, "payment_intent", "customer", "transfer_group")
    charges = call.realm.kind("charge")
    return page(call, matching(charges, call.params, "payment_intent", "customer"))


def refunds_of(realm: Realm, charge_id: str) -> list[Json]:
    """The refunds of one charge, dead ones included."""
    return [refund for refund in realm.of("refund") if refund["charge"] == charge_id]


def remaining_minor(charge: Json) -> int:
    """What may still be refunded."""
    return int(charge["amount_captured"]) - int(charge["amount_refunded"])


def refresh(realm: Realm, charge: Json, switches: Switches) -> None:
    """Bring the charge's refund fields in line with its refunds."""
    counted = [
        refund["amount"]
        for refund in refunds_of(realm, charge["id"])
        if refund["status"] not in DEAD or not switches.failed_refund_frees_amount
    ]
    charge["amount_refunded"] = sum(counted)
    charge["refunded"] = charge["captured"] and remaining_minor(charge) <= 0


def build(call: Call, given: Json) -> Json:
    """A charge as it stands after a payment; `given` overrides any field."""
    amount = int(given.get("amount", 5_000))
    captured = bool(given.get("captured", True))
    return call.base("ch", "charge") | {
        "amount": amount,
        "amount_captured": amount if captured else 0,
        "amount_refunded": 0,
        "application_fee": None,
        "application_fee_amount": None,
        "balance_transaction": new_id("txn") if captured else None,
        "captured": captured,
        "currency": "usd",
        "customer": None,
        "description": None,
        "disputed": False,
        "failure_code": None,
        "failure_message": None,
        "on_behalf_of": None,
        "paid": True,
        "payment_intent": None,
        "refunded": False,
        "status": "succeeded",
        "transfer": None,
        "transfer_data": None,
        "transfer_group": None,
        **given,
    }

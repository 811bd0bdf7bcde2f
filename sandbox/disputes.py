"""Disputes: opened by a customer's bank, closed by it, read by us.

While one is open, the charge cannot be refunded
(https://docs.stripe.com/disputes/how-disputes-work).
"""

from sandbox import params as read
from sandbox.call import Call
from sandbox.errors import Json
from sandbox.lists import PAGING, matching, page

CLOSED = {"won", "lost", "warning_closed"}


def retrieve(call: Call) -> Json:
    """GET /v1/disputes/{id}."""
    return call.get("dispute", call.ids[0])


def listing(call: Call) -> Json:
    """GET /v1/disputes: by charge or payment intent."""
    read.allow(call.params, *PAGING, "charge", "payment_intent")
    return page(call, matching(call.realm.kind("dispute"), call.params, "charge", "payment_intent"))


def open_dispute(call: Call, charge: Json, given: Json) -> Json:
    """A bank disputes a charge."""
    dispute = call.base("dp", "dispute") | {
        "amount": charge["amount"] - charge["amount_refunded"],
        "charge": charge["id"],
        "currency": charge["currency"],
        "is_charge_refundable": False,
        "payment_intent": charge["payment_intent"],
        "reason": "general",
        "status": "needs_response",
        **given,
    }
    charge["disputed"] = True
    call.add(dispute)
    call.emit("charge.dispute.created", dispute)
    return dispute


def close(call: Call, dispute: Json, status: str) -> Json:
    """The bank decides. Only a dispute that was won, or a mere inquiry, frees the charge."""
    dispute.update(status=status, is_charge_refundable=status != "lost")
    call.emit("charge.dispute.closed", dispute)
    return dispute

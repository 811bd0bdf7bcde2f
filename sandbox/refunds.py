"""Refunds: what may be refunded, and what becomes of a refund afterwards.

Sources: https://docs.stripe.com/refunds, https://docs.stripe.com/api/refunds/object
"""

from sandbox import balances, charges
from sandbox import params as read
from sandbox.call import Call
from sandbox.errors import ApiError, Json
from sandbox.lists import PAGING, matching, page
from sandbox.state import new_id

REASONS = {"duplicate", "fraudulent", "requested_by_customer"}
STATUSES = {"pending", "requires_action", "succeeded", "failed", "canceled"}


def create(call: Call) -> Json:
    """POST /v1/refunds."""
    asked = _read(call)
    charge = _charge(call)
    _check(call, charge)
    remaining = charges.remaining_minor(charge)
    if remaining <= 0:
        raise ApiError.refused(
            f"Charge {charge['id']} has already been refunded.", code="charge_already_refunded"
        )
    amount = asked["amount"] or remaining
    if amount > remaining:
        raise ApiError.refused(
            f"Refund amount ({amount}) is greater than unrefunded amount on charge ({remaining})",
            param="amount",
        )
    refund = _build(call, charge, amount, asked)
    return _commit(call, charge, refund, asked)


def retrieve(call: Call) -> Json:
    """GET /v1/refunds/{id}."""
    return call.get("refund", call.ids[0])


def update(call: Call) -> Json:
    """POST /v1/refunds/{id}: metadata only."""
    read.allow(call.params, "metadata")
    read.metadata(call.params)
    refund = call.get("refund", call.ids[0])
    read.merge_metadata(refund, call.params)
    call.emit("refund.updated", refund)
    return refund


def cancel(call: Call) -> Json:
    """POST /v1/refunds/{id}/cancel: only while it waits for the customer."""
    read.allow(call.params)
    refund = call.get("refund", call.ids[0])
    if refund["status"] != "requires_action":
        raise ApiError.refused(f"A refund that is {refund['status']} cannot be canceled.")
    return settle(call, refund, "canceled", reason="merchant_request")


def listing(call: Call) -> Json:
    """GET /v1/refunds: by charge or payment intent, dead ones included."""
    read.allow(call.params, *PAGING, "charge", "payment_intent")
    return page(call, matching(call.realm.kind("refund"), call.params, "charge", "payment_intent"))


def settle(call: Call, refund: Json, status: str, *, reason: str | None = None) -> Json:
    """Move a refund to another status, as banks and customers do, and tell about it."""
    refund["status"] = status
    refund["pending_reason"] = reason or "processing" if status == "pending" else None
    if status in charges.DEAD:
        refund["failure_reason"] = reason or "unknown"
        refund["failure_balance_transaction"] = new_id("txn")
    elif status == "succeeded":
        refund["balance_transaction"] = refund["balance_transaction"] or new_id("txn")
    charge = call.get("charge", refund["charge"])
    charges.refresh(call.realm, charge, call.world.switches)
    call.emit("refund.updated", refund)
    if status == "failed":
        call.emit("refund.failed", refund)
    call.world.changes.notify()
    return refund


def _read(call: Call) -> Json:
    given = call.params
    read.allow(
        given,
        "charge",
        "payment_intent",
        "amount",
        "reason",
        "metadata",
        "reverse_transfer",
        "refund_application_fee",
        "instructions_email",
        "currency",
        "customer",
        "origin",
    )
    asked: Json = {
        "amount": read.amount(given),
        "reason": read.choice(given, "reason", REASONS),
        "metadata": read.metadata(given) or {},
        "reverse_transfer": read.flag(given, "reverse_transfer"),
        "refund_application_fee": read.flag(given, "refund_application_fee"),
    }
    if not read.text(given, "charge") and not read.text(given, "payment_intent"):
        raise ApiError.invalid(
            "Say what to refund: one of payment_intent or charge is needed.",
            code="parameter_missing",
        )
    return asked


def _charge(call: Call) -> Json:
    status = call.world.switches.missing_target_status
    charge_id = read.text(call.params, "charge")
    intent_id = read.text(call.params, "payment_intent")
    if intent_id:
        intent = call.get("payment_intent", intent_id, param="payment_intent", status=status)
        if intent["latest_charge"] is None:
            raise ApiError.refused("This payment intent has no successful charge to refund.")
        if charge_id and charge_id != intent["latest_charge"]:
            raise ApiError.refused("The charge is not one of this payment intent.", param="charge")
        charge_id = intent["latest_charge"]
    return call.get("charge", charge_id or "", param="charge", status=status)


def _check(call: Call, charge: Json) -> None:
    if charge["status"] != "succeeded" or not charge["captured"]:
        raise ApiError.refused(
            f"Charge {charge['id']} has not been captured, so it cannot be refunded.",
            code="charge_not_refundable",
        )
    for dispute in call.realm.of("dispute"):
        if dispute["charge"] == charge["id"] and not dispute["is_charge_refundable"]:
            raise ApiError.refused(
                f"Charge {charge['id']} is disputed, so it cannot be refunded.",
                code="charge_disputed",
            )


def _build(call: Call, charge: Json, amount: int, asked: Json) -> Json:
    switches = call.world.switches
    status, pending = switches.refund_status, None
    if balances.available_minor(call.realm, charge["currency"]) < amount:
        status, pending = "pending", "insufficient_funds"
    elif status == "pending":
        pending = switches.refund_pending_reason
    return call.base("re", "refund") | {
        "amount": amount,
        "balance_transaction": new_id("txn") if status == "succeeded" else None,
        "charge": charge["id"],
        "currency": charge["currency"],
        "destination_details": None,
        "failure_balance_transaction": None,
        "failure_reason": None,
        "metadata": asked["metadata"],
        "payment_intent": charge["payment_intent"],
        "pending_reason": pending,
        "reason": asked["reason"],
        "receipt_number": None,
        "source_transfer_reversal": None,
        "status": status,
        "transfer_reversal": new_id("trr") if asked["reverse_transfer"] else None,
    }


def _commit(call: Call, charge: Json, refund: Json, asked: Json) -> Json:
    del refund["livemode"]
    call.add(refund)
    charges.refresh(call.realm, charge, call.world.switches)
    details = {name: asked[name] for name in ("reverse_transfer", "refund_application_fee")}
    call.journal("refund", refund, target=charge["id"], amount=refund["amount"], details=details)
    call.emit("refund.created", refund)
    call.emit("charge.refunded", charge)
    return refund

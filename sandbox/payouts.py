"""Payouts: to the account's own bank, and perhaps back days later."""

from sandbox import balances
from sandbox import params as read
from sandbox.call import Call
from sandbox.errors import ApiError, Json
from sandbox.lists import PAGING, matching, page
from sandbox.state import new_id

ARRIVAL_S = 2 * 86_400


def create(call: Call) -> Json:
    """POST /v1/payouts."""
    read.allow(
        call.params, "amount", "currency", "destination", "metadata", "description", "method"
    )
    amount = read.amount(call.params)
    if amount is None:
        raise ApiError.invalid(
            "Missing required param: amount.", param="amount", code="parameter_missing"
        )
    currency = read.required(call.params, "currency").lower()
    destination = read.text(call.params, "destination") or "ba_sandbox"
    metadata = read.metadata(call.params) or {}
    balances.require(call.realm, currency, amount)
    payout = call.base("po", "payout") | {
        "amount": amount,
        "arrival_date": call.now + ARRIVAL_S,
        "automatic": False,
        "balance_transaction": new_id("txn"),
        "currency": currency,
        "description": read.text(call.params, "description"),
        "destination": destination,
        "failure_code": None,
        "failure_message": None,
        "metadata": metadata,
        "method": read.text(call.params, "method") or "standard",
        "status": "pending",
    }
    call.add(payout)
    call.journal("payout", payout, target=destination, amount=amount)
    call.emit("payout.created", payout)
    return payout


def retrieve(call: Call) -> Json:
    """GET /v1/payouts/{id}."""
    return call.get("payout", call.ids[0])


def listing(call: Call) -> Json:
    """GET /v1/payouts: by destination or status."""
    read.allow(call.params, *PAGING, "destination", "status", "arrival_date")
    return page(call, matching(call.realm.kind("payout"), call.params, "destination", "status"))


def cancel(call: Call) -> Json:
    """POST /v1/payouts/{id}/cancel: only a pending one, and no automatic one."""
    read.allow(call.params)
    payout = call.get("payout", call.ids[0])
    if payout["status"] != "pending" or payout["automatic"]:
        raise ApiError.refused("Only manual payouts that are pending can be canceled.")
    call.journal("payout_cancel", payout, target=payout["id"], amount=payout["amount"])
    return settle(call, payout, "canceled")


def settle(call: Call, payout: Json, status: str) -> Json:
    """Move a payout to another status, as banks do, and tell about it."""
    payout["status"] = status
    if status == "failed":
        payout["failure_code"] = "account_closed"
    call.emit(f"payout.{status}" if status != "in_transit" else "payout.updated", payout)
    call.world.changes.notify()
    return payout

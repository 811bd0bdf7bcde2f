"""Transfers and their reversals: nothing but the balance stops a second one."""

from sandbox import balances
from sandbox import params as read
from sandbox.call import Call
from sandbox.errors import ApiError, Json
from sandbox.lists import PAGING, matching, page
from sandbox.state import new_id


def create(call: Call) -> Json:
    """POST /v1/transfers."""
    read.allow(
        call.params,
        "amount",
        "currency",
        "destination",
        "metadata",
        "transfer_group",
        "description",
    )
    amount = read.amount(call.params)
    if amount is None:
        raise ApiError.invalid(
            "Missing required param: amount.", param="amount", code="parameter_missing"
        )
    currency = read.required(call.params, "currency").lower()
    destination = read.required(call.params, "destination")
    metadata = read.metadata(call.params) or {}
    if call.world.platforms.get(destination) != call.realm.account:
        raise ApiError.refused(
            f"No such destination: '{destination}'", param="destination", code="resource_missing"
        )
    balances.require(call.realm, currency, amount)
    transfer = call.base("tr", "transfer") | {
        "amount": amount,
        "amount_reversed": 0,
        "balance_transaction": new_id("txn"),
        "currency": currency,
        "description": read.text(call.params, "description"),
        "destination": destination,
        "metadata": metadata,
        "reversed": False,
        "source_transaction": None,
        "transfer_group": read.text(call.params, "transfer_group"),
    }
    call.add(transfer)
    call.journal("transfer", transfer, target=destination, amount=amount)
    call.emit("transfer.created", transfer)
    return transfer


def retrieve(call: Call) -> Json:
    """GET /v1/transfers/{id}."""
    return call.get("transfer", call.ids[0])


def update(call: Call) -> Json:
    """POST /v1/transfers/{id}: metadata."""
    read.allow(call.params, "metadata")
    read.metadata(call.params)
    transfer = call.get("transfer", call.ids[0])
    read.merge_metadata(transfer, call.params)
    return transfer


def listing(call: Call) -> Json:
    """GET /v1/transfers: by destination or transfer group."""
    read.allow(call.params, *PAGING, "destination", "transfer_group")
    found = matching(call.realm.kind("transfer"), call.params, "destination", "transfer_group")
    return page(call, found)


def reverse(call: Call) -> Json:
    """POST /v1/transfers/{id}/reversals: as often as something is left to reverse."""
    read.allow(call.params, "amount", "metadata", "description", "refund_application_fee")
    asked = read.amount(call.params)
    metadata = read.metadata(call.params) or {}
    transfer = call.get("transfer", call.ids[0])
    remaining = transfer["amount"] - transfer["amount_reversed"]
    amount = asked or remaining
    if remaining == 0 or amount > remaining:
        raise ApiError.refused(
            f"The amount ({amount}) is more than is left to reverse ({remaining}).", param="amount"
        )
    reversal = call.base("trr", "transfer_reversal") | {
        "amount": amount,
        "balance_transaction": new_id("txn"),
        "currency": transfer["currency"],
        "metadata": metadata,
        "source_refund": None,
        "transfer": transfer["id"],
    }
    transfer["amount_reversed"] += amount
    transfer["reversed"] = transfer["amount_reversed"] == transfer["amount"]
    call.add(reversal)
    call.journal("transfer_reversal", reversal, target=transfer["id"], amount=amount)
    call.emit("transfer.reversed", transfer)
    return reversal


def reversals(call: Call) -> Json:
    """GET /v1/transfers/{id}/reversals."""
    read.allow(call.params, *PAGING)
    transfer = call.get("transfer", call.ids[0])
    found = call.realm.kind("transfer_reversal")
    return page(call, [item for item in found if item["transfer"] == transfer["id"]])


def reversal(call: Call) -> Json:
    """GET /v1/transfers/{id}/reversals/{id}."""
    return call.get("transfer_reversal", call.ids[1])

"""Subscriptions: cancelling one is final, and doing it twice answers 404.

The second DELETE says `resource_missing` although GET still finds the object:
https://github.com/stripe/stripe-go/issues/1887
"""

from sandbox import params as read
from sandbox.call import Call
from sandbox.errors import ApiError, Json
from sandbox.lists import PAGING, matching, page


def retrieve(call: Call) -> Json:
    """GET /v1/subscriptions/{id}: canceled ones too."""
    return call.get("subscription", call.ids[0])


def listing(call: Call) -> Json:
    """GET /v1/subscriptions: canceled ones only with status=canceled or status=all."""
    read.allow(call.params, *PAGING, "customer", "status", "price")
    found = matching(call.realm.kind("subscription"), call.params, "customer")
    status = read.text(call.params, "status")
    if status is None:
        found = [item for item in found if item["status"] != "canceled"]
    elif status != "all":
        found = [item for item in found if item["status"] == status]
    return page(call, found)


def update(call: Call) -> Json:
    """POST /v1/subscriptions/{id}: metadata, and cancelling at the end of the period."""
    read.allow(call.params, "metadata", "cancel_at_period_end", "cancellation_details")
    read.metadata(call.params)
    subscription = _active(call)
    read.merge_metadata(subscription, call.params)
    if "cancel_at_period_end" in call.params:
        subscription["cancel_at_period_end"] = read.flag(call.params, "cancel_at_period_end")
    call.emit("customer.subscription.updated", subscription)
    return subscription


def cancel(call: Call) -> Json:
    """DELETE /v1/subscriptions/{id}."""
    read.allow(call.params, "cancellation_details", "invoice_now", "prorate")
    subscription = _active(call)
    subscription.update(status="canceled", canceled_at=call.now, ended_at=call.now)
    details = {name: call.params.get(name) for name in ("invoice_now", "prorate")}
    call.journal("subscription_cancel", subscription, target=subscription["id"], details=details)
    call.emit("customer.subscription.deleted", subscription)
    return subscription


def build(call: Call, given: Json) -> Json:
    """An active subscription; `given` overrides any field."""
    return call.base("sub", "subscription") | {
        "cancel_at": None,
        "cancel_at_period_end": False,
        "canceled_at": None,
        "cancellation_details": {"comment": None, "feedback": None, "reason": None},
        "currency": "usd",
        "customer": "cus_sandbox",
        "ended_at": None,
        "items": {"object": "list", "data": [], "has_more": False, "url": "/v1/subscription_items"},
        "start_date": call.now,
        "status": "active",
        **given,
    }


def _active(call: Call) -> Json:
    subscription = call.get("subscription", call.ids[0])
    if subscription["status"] == "canceled":
        raise ApiError(
            404,
            f"No such subscription: '{subscription['id']}'",
            code="resource_missing",
            param="id",
        )
    return subscription

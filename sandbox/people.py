"""What people and banks do to the provider's objects, without any request of ours."""

from typing import cast

from sandbox import disputes, payouts, refunds
from sandbox.call import Call
from sandbox.errors import ApiError, Json


def refund(call: Call, body: Json) -> Json:
    """Somebody refunds by hand in the dashboard: no idempotency key, no request."""
    params: Json = {
        name: str(body[name])
        for name in ("charge", "payment_intent", "amount", "reason")
        if body.get(name) is not None
    }
    params["metadata"] = body.get("metadata", {})
    call.params.update(params)
    return refunds.create(call)


def settle_refund(call: Call, thing: Json, body: Json) -> Json:
    """The bank moves a refund on: `status`, and a `reason` if it failed or waits."""
    _one_of(body["status"], refunds.STATUSES)
    return refunds.settle(call, thing, body["status"], reason=body.get("reason"))


def settle_payout(call: Call, thing: Json, body: Json) -> Json:
    """The bank moves a payout on."""
    _one_of(body["status"], {"in_transit", "paid", "failed", "canceled"})
    return payouts.settle(call, thing, body["status"])


def close_dispute(call: Call, thing: Json, body: Json) -> Json:
    """The bank decides a dispute."""
    _one_of(body["status"], disputes.CLOSED)
    return disputes.close(call, thing, body["status"])


def edit_metadata(call: Call, thing: Json, body: Json) -> Json:
    """Somebody sets keys of any object's metadata; `replace` drops the others first."""
    kept = {} if body.get("replace") else cast("Json", thing["metadata"])
    thing["metadata"] = {**kept, **body.get("metadata", {})}
    if thing["object"] == "refund":
        call.emit("refund.updated", thing)
    call.world.changes.notify()
    return thing


def _one_of(value: str, options: set[str]) -> None:
    if value not in options:
        raise ApiError.invalid(f"{value} is none of {', '.join(sorted(options))}")

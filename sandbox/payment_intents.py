"""Payment intents: capture and cancel, which bring about a state rather than add something."""

from sandbox import params as read
from sandbox.call import Call
from sandbox.errors import ApiError, Json
from sandbox.lists import PAGING, matching, page

CANCELABLE = frozenset(
    {"requires_payment_method", "requires_capture", "requires_confirmation"}
    | {"requires_action", "processing"}
)
CANCELLATION_REASONS = {"duplicate", "fraudulent", "requested_by_customer", "abandoned"}


def retrieve(call: Call) -> Json:
    """GET /v1/payment_intents/{id}."""
    return call.get("payment_intent", call.ids[0])


def listing(call: Call) -> Json:
    """GET /v1/payment_intents."""
    read.allow(call.params, *PAGING, "customer")
    return page(call, matching(call.realm.kind("payment_intent"), call.params, "customer"))


def capture(call: Call) -> Json:
    """POST /v1/payment_intents/{id}/capture."""
    read.allow(call.params, "amount_to_capture", "metadata")
    asked = read.amount(call.params, "amount_to_capture")
    read.metadata(call.params)
    intent = call.get("payment_intent", call.ids[0])
    if intent["status"] != "requires_capture":
        raise _unexpected(intent, "captured")
    amount = asked or intent["amount_capturable"]
    if amount > intent["amount_capturable"]:
        raise ApiError.refused(
            "The amount is more than can be captured.", param="amount_to_capture"
        )
    read.merge_metadata(intent, call.params)
    intent.update(status="succeeded", amount_received=amount, amount_capturable=0)
    charge = call.get("charge", intent["latest_charge"])
    charge.update(captured=True, amount_captured=amount)
    call.journal("capture", intent, target=intent["id"], amount=amount)
    call.emit("charge.captured", charge)
    call.emit("payment_intent.succeeded", intent)
    return intent


def cancel(call: Call) -> Json:
    """POST /v1/payment_intents/{id}/cancel."""
    read.allow(call.params, "cancellation_reason")
    reason = read.choice(call.params, "cancellation_reason", CANCELLATION_REASONS)
    intent = call.get("payment_intent", call.ids[0])
    if intent["status"] not in CANCELABLE:
        raise _unexpected(intent, "canceled")
    intent.update(
        status="canceled", cancellation_reason=reason, canceled_at=call.now, amount_capturable=0
    )
    call.journal("payment_intent_cancel", intent, target=intent["id"], amount=intent["amount"])
    call.emit("payment_intent.canceled", intent)
    return intent


def build(call: Call, given: Json, charge: Json | None) -> Json:
    """A payment intent; its status follows from its charge unless `given` says otherwise."""
    amount = int(given.get("amount") or (charge or {}).get("amount") or 5_000)
    captured = charge is not None and charge["captured"]
    status = "requires_payment_method"
    if charge is not None:
        status = "succeeded" if captured else "requires_capture"
    return call.base("pi", "payment_intent") | {
        "amount": amount,
        "amount_capturable": amount if status == "requires_capture" else 0,
        "amount_received": charge["amount_captured"] if charge else 0,
        "canceled_at": None,
        "cancellation_reason": None,
        "capture_method": "automatic" if captured else "manual",
        "currency": charge["currency"] if charge else "usd",
        "customer": charge["customer"] if charge else None,
        "latest_charge": charge["id"] if charge else None,
        "status": status,
        **given,
    }


def _unexpected(intent: Json, done: str) -> ApiError:
    return ApiError.refused(
        f"This payment intent could not be {done} because its status is {intent['status']}.",
        code="payment_intent_unexpected_state",
        extra={"payment_intent": dict(intent)},
    )

"""Events: what happened, for thirty days, and with whose request."""

from sandbox import params as read
from sandbox.call import Call
from sandbox.errors import Json
from sandbox.lists import PAGING, page

RETENTION_S = 30 * 86_400
"""How long events can be read. Source: https://docs.stripe.com/api/events"""


def retrieve(call: Call) -> Json:
    """GET /v1/events/{id}."""
    return call.get("event", call.ids[0])


def listing(call: Call) -> Json:
    """GET /v1/events: by type(s) and by whether the webhooks came through."""
    read.allow(call.params, *PAGING, "type", "types", "delivery_success")
    found = [item for item in call.realm.kind("event") if item["created"] > call.now - RETENTION_S]
    kind = read.text(call.params, "type")
    wanted = {kind} if kind is not None else set(read.texts(call.params, "types"))
    if wanted:
        found = [item for item in found if _fits(item["type"], wanted)]
    if "delivery_success" in call.params:
        delivered = read.flag(call.params, "delivery_success")
        found = [item for item in found if (item["pending_webhooks"] == 0) is delivered]
    return page(call, found)


def _fits(kind: str, wanted: set[str]) -> bool:
    return any(
        kind == name or (name.endswith("*") and kind.startswith(name[:-1])) for name in wanted
    )

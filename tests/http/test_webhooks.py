"""Stripe's webhooks: signed, kept once, waking only."""

import hashlib
import hmac
import json
import time
from typing import Any
from uuid import UUID

import httpx

from ledger.model import State
from sidecar.access.roles import Role
from tests.support.house import SECRETS, House, propose, refund
from tests.support.writes import history, query


def signature(body: str, secret: str, at: int) -> str:
    """Signed as Stripe documents it, by hand: https://docs.stripe.com/webhooks#verify-manually."""
    made = hmac.new(secret.encode(), f"{at}.{body}".encode(), hashlib.sha256).hexdigest()
    return f"t={at},v1={made}"


async def tell(
    house: House, event: dict[str, Any], *, secret: str = SECRETS[0], age_s: int = 0
) -> httpx.Response:
    """Deliver an event as Stripe would."""
    body = json.dumps(event)
    at = int(time.time()) - age_s
    header = signature(body, secret, at)
    client = await house.client()
    return await client.post(
        "/v1/webhooks/stripe", content=body, headers={"Stripe-Signature": header}
    )


def event_about(operation: dict[str, Any], house: House, event_id: str = "evt_1") -> dict[str, Any]:
    """An event about an operation's refund."""
    known = house.system.ledger.identity
    marks = {"outlive_ledger": str(known.ledger_id), "outlive_operation": operation["id"]}
    about = {"id": operation["reference"] or "re_x", "object": "refund", "metadata": marks}
    return {"id": event_id, "type": "refund.updated", "data": {"object": about}, "amount": 1.5}


async def done(house: House) -> dict[str, Any]:
    """One confirmed refund."""
    answer = await propose(await house.as_(Role.AGENT), refund())
    operation: dict[str, Any] = answer.json()["operations"][0]
    return operation


async def test_events_before_the_answer_three_times_and_out_of_order_leave_one_record(
    house: House,
) -> None:
    """Case 10: the webhook comes before the answer, three times, out of order."""
    await house.control.add_webhook(f"{house.url}/v1/webhooks/stripe", secret=SECRETS[0])
    await house.control.switch(webhooks_held=True)
    held = await house.control.arm("slow", method="POST", when="after", hold=True)
    agent = await house.as_(Role.AGENT)
    first = await propose(agent, refund(), key="one", wait=0)
    operation_id = first.json()["operation_ids"][0]
    await house.control.wait(fault=held, journal=1)
    sent = await house.control.flush_webhooks(backwards=True, copies=3)
    assert sent > 0
    before = await house.system.ledger.operation(UUID(operation_id))
    assert (before.state, before.in_doubt) == (State.SENT, True), "an event never writes a state"
    await house.control.release(held)
    after = await agent.get(f"/v1/operations/{operation_id}", params={"wait": 20})
    assert after.json()["result"]["status"] == "executed"
    kept = await query(house.system.ledger, "SELECT event_id, operation_id FROM webhook_events")
    assert len({row["event_id"] for row in kept}) == len(kept) == sent // 3
    assert {str(row["operation_id"]) for row in kept} == {operation_id}
    told = await history(house.system.ledger, UUID(operation_id))
    assert told.count("webhook") == len(kept)
    assert await house.refunds() == 1


async def test_a_live_sender_is_not_taken_from_by_an_event(house: House) -> None:
    """It is only noted that there is news; the sender records its answer under its own fence."""
    held = await house.control.arm("slow", method="POST", when="after", hold=True)
    agent = await house.as_(Role.AGENT)
    started = (await propose(agent, refund(), wait=0)).json()
    operation = started["operations"][0]
    await house.control.wait(fault=held)
    owner = (await house.system.ledger.operation(UUID(operation["id"]))).owner
    answer = await tell(house, event_about(operation, house))
    assert answer.json() == {"heard": "new", "operation_id": operation["id"]}
    assert (await house.system.ledger.operation(UUID(operation["id"]))).owner == owner
    await house.control.release(held)
    end = await agent.get(f"/v1/operations/{operation['id']}", params={"wait": 20})
    assert end.json()["operations"][0]["state"] == "confirmed"


async def test_both_secrets_count_while_one_takes_over_from_the_other(house: House) -> None:
    """The new one and the old one; a third one, none, and an old signature are refused."""
    operation = await done(house)
    for number, secret in enumerate(SECRETS):
        event = event_about(operation, house, f"evt_{number}")
        assert (await tell(house, event, secret=secret)).json()["heard"] == "new"
    strange = await tell(house, event_about(operation, house), secret="whsec_mallory")
    assert (strange.status_code, strange.json()["code"]) == (422, "bad_signature")
    replayed = await tell(house, event_about(operation, house, "evt_9"), age_s=600)
    assert replayed.status_code == 422
    bare = await (await house.client()).post("/v1/webhooks/stripe", content=b"{}")
    assert bare.status_code == 422
    assert len(await query(house.system.ledger, "SELECT 1 FROM webhook_events")) == 2


async def test_an_event_about_nothing_of_ours_is_kept_and_wakes_nobody(house: House) -> None:
    """Another ledger's operation, and an object that nobody knows."""
    operation = await done(house)
    event = event_about({**operation, "reference": "re_unknown"}, house)
    event["data"]["object"]["metadata"]["outlive_ledger"] = str(UUID(int=7))
    answer = await tell(house, event)
    assert answer.json() == {"heard": "new", "operation_id": None}
    assert "webhook" not in await history(house.system.ledger, UUID(operation["id"]))


async def test_an_event_without_our_id_is_matched_by_the_refund_or_by_the_key(
    house: House,
) -> None:
    """A person may have wiped the metadata; the refund's id, or the request's key, still tells."""
    operation = await done(house)
    by_reference: dict[str, Any] = {
        "id": "evt_a",
        "type": "t",
        "data": {"object": {"id": operation["reference"]}},
    }
    by_key: dict[str, Any] = {
        "id": "evt_b",
        "type": "t",
        "data": {"object": {"id": "re_other", "metadata": {}}},
        "request": {"idempotency_key": operation["id"]},
    }
    for event in (by_reference, by_key):
        assert (await tell(house, event)).json()["operation_id"] == operation["id"]


async def test_signed_nonsense_is_refused_and_kept_nowhere(house: House) -> None:
    """No JSON, no event, an event without an id: a problem each, never a 5xx."""
    client = await house.client()
    for body in ("", "[", "[]", "7", '{"id": 1}', '{"id": "a\\u0000", "type": "t"}', "[" * 5_000):
        headers = {"Stripe-Signature": signature(body, SECRETS[0], int(time.time()))}
        answer = await client.post("/v1/webhooks/stripe", content=body, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input"), body
    assert await query(house.system.ledger, "SELECT 1 FROM webhook_events") == []

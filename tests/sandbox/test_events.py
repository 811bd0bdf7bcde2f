"""Events and webhooks: signed, duplicated, delayed, out of order, sent again."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import pytest
import stripe

from sandbox.control import Control
from sandbox.server import Listener
from sandbox.wire import Request, Response

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")  # stripe's own
Refund = Callable[..., Coroutine[Any, Any, stripe.Refund]]

SECRET = "whsec_of_the_test"


@dataclass
class Receiver:
    """Takes webhooks and answers with `status`."""

    url: str
    status: int = 200
    bodies: list[bytes] = field(default_factory=list[bytes])
    signatures: list[str] = field(default_factory=list[str])

    def events(self) -> list[Any]:
        """What came, with every signature checked by Stripe's own code (at any age)."""
        pairs = zip(self.bodies, self.signatures, strict=True)
        return [
            stripe.Webhook.construct_event(body, signature, SECRET, tolerance=0)
            for body, signature in pairs
        ]


@pytest.fixture
async def receiver(control: Control) -> AsyncIterator[Receiver]:
    """A registered endpoint."""

    async def handle(request: Request) -> Response:
        taker.bodies.append(request.body)
        taker.signatures.append(request.headers["stripe-signature"])
        return Response(taker.status, b"")

    listener = Listener("127.0.0.1", 0, handle)
    taker = Receiver(listener.url)
    await listener.open()
    await control.add_webhook(taker.url, secret=SECRET)
    yield taker
    await listener.stop()


async def test_an_event_names_the_request_that_caused_it(
    refund: Refund, client: stripe.StripeClient
) -> None:
    """Its id and its key; the newest comes first."""
    made = await refund()
    assert made.last_response is not None
    listed = await client.v1.events.list_async()
    assert [item.type for item in listed.data] == ["charge.refunded", "refund.created"]
    event = await client.v1.events.retrieve_async(listed.data[1].id)
    assert event.request is not None
    assert event.request.idempotency_key == "key_1"
    assert event.request.id == made.last_response.headers["request-id"]
    assert event.data.object["id"] == made.id


async def test_events_are_listed_by_type_for_thirty_days(
    refund: Refund, client: stripe.StripeClient, control: Control
) -> None:
    """One type, several, or a family of them."""
    made = await refund()
    await control.settle_refund(made.id, "failed")
    await control.open_dispute("ch_1")

    async def listed(params: Any) -> list[str]:
        return [item.type for item in (await client.v1.events.list_async(params)).data]

    assert await listed({"type": "refund.failed"}) == ["refund.failed"]
    assert await listed({"types": ["refund.created", "charge.dispute.created"]}) == [
        "charge.dispute.created",
        "refund.created",
    ]
    assert len(await listed({"type": "refund.*"})) == 3
    await control.advance(30 * 86_400)
    assert await listed({}) == []


async def test_webhooks_are_signed_as_stripe_signs_them(
    refund: Refund, control: Control, receiver: Receiver
) -> None:
    """Stripe's own code accepts them."""
    made = await refund()
    await control.wait(deliveries=2)
    assert {item["type"] for item in receiver.events()} == {"refund.created", "charge.refunded"}
    assert made.id in {item["data"]["object"]["id"] for item in receiver.events()}
    records = (await control.webhooks())["deliveries"]
    assert [item["status"] for item in records] == [200, 200]


async def test_webhooks_may_come_several_times(
    refund: Refund, control: Control, receiver: Receiver
) -> None:
    """The same event id each time."""
    await control.switch(webhook_copies=3)
    await refund()
    await control.wait(deliveries=6)
    assert len({item["id"] for item in receiver.events()}) == 2


async def test_webhooks_may_come_late(refund: Refund, control: Control, receiver: Receiver) -> None:
    """By the sandbox's clock."""
    await control.switch(webhook_delay_s=600)
    await refund()
    assert receiver.bodies == []
    await control.advance(600)
    await control.wait(deliveries=2)
    assert len(receiver.bodies) == 2


async def test_webhooks_may_come_in_any_order(
    refund: Refund, control: Control, receiver: Receiver
) -> None:
    """Held back, then sent as the test says."""
    await control.switch(webhooks_held=True)
    await refund()
    held = (await control.webhooks())["held"]
    assert [item["type"] for item in held] == ["refund.created", "charge.refunded"]
    assert await control.flush_webhooks(backwards=True, copies=2) == 4
    assert [item["id"] for item in receiver.events()] == [
        held[1]["event"],
        held[1]["event"],
        held[0]["event"],
        held[0]["event"],
    ]
    await refund(key="b")
    ids = [item["event"] for item in (await control.webhooks())["held"]]
    await control.flush_webhooks(order=[ids[1], ids[0]])
    assert [item["id"] for item in receiver.events()[4:]] == [ids[1], ids[0]]


async def test_a_webhook_that_fails_is_tried_again_and_can_be_resent(
    refund: Refund, client: stripe.StripeClient, control: Control, receiver: Receiver
) -> None:
    """Until it is delivered, it is listed as undelivered; each try is signed anew."""
    receiver.status = 500
    await refund()
    await control.wait(deliveries=2)
    undelivered = await client.v1.events.list_async({"delivery_success": False})
    assert len(undelivered.data) == 2
    receiver.status = 200
    await control.advance(60)
    await control.wait(deliveries=4)
    assert (await client.v1.events.list_async({"delivery_success": False})).data == []
    await control.resend_webhook(undelivered.data[0].id)
    await control.wait(deliveries=5)
    assert receiver.events()[4]["id"] == undelivered.data[0].id
    assert len(set(receiver.signatures)) >= 4


async def test_an_endpoint_hears_only_of_its_account_mode_and_types(
    client: stripe.StripeClient, control: Control, receiver: Receiver
) -> None:
    """A connect endpoint hears of connected accounts too, each event naming its account."""
    await control.seed(accounts=[{"id": "acct_c"}], subscriptions=[{"id": "sub_1"}])
    await control.seed(account="acct_c", subscriptions=[{"id": "sub_c"}])
    await client.v1.subscriptions.cancel_async("sub_c", None, {"stripe_account": "acct_c"})
    await control.add_webhook(
        receiver.url, secret=SECRET, connect=True, types=["customer.subscription.deleted"]
    )
    await client.v1.subscriptions.update_async("sub_1", {"metadata": {"a": "1"}})
    await control.wait(deliveries=1)
    await control.seed(account="acct_c", subscriptions=[{"id": "sub_d"}])
    await client.v1.subscriptions.cancel_async("sub_d", None, {"stripe_account": "acct_c"})
    await control.wait(deliveries=2)
    seen = [(item["type"], item.to_dict().get("account")) for item in receiver.events()]
    assert seen == [
        ("customer.subscription.updated", None),
        ("customer.subscription.deleted", "acct_c"),
    ]


async def test_an_endpoint_that_is_gone_does_not_disturb_anybody(
    refund: Refund, control: Control
) -> None:
    """The error is on record."""
    unused = Listener("127.0.0.1", 0, lambda _request: asyncio.sleep(0, Response(200, b"")))
    await control.add_webhook(unused.url)
    await refund()
    await control.wait(deliveries=2)
    records = (await control.webhooks())["deliveries"]
    assert all(item["status"] is None and "ConnectError" in item["error"] for item in records)
    await unused.stop()

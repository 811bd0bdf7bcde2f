"""Every fault of a write, on both sides of the effect, as the real SDK sees it."""

from collections.abc import Callable, Coroutine
from typing import Any

import httpx
import pytest
import stripe

from sandbox.control import Control

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")  # stripe's own
Connect = Callable[..., stripe.StripeClient]
Refund = Callable[..., Coroutine[Any, Any, stripe.Refund]]

IMPATIENT_S = 0.2
LOST = ["reset", "close"]
SPOILED = ["cut_body", "reset_body"]
UNREADABLE = ["truncated", "html", "empty_body"]
STATUSES = {
    "error_500": 500,
    "error_502": 502,
    "error_503": 503,
    "error_504": 504,
    "conflict_409": 409,
    "rate_limit_429": 429,
    "lock_timeout_429": 429,
    "dependency_424": 424,
    "unauthorized_401": 401,
    "forbidden_403": 403,
}


async def effects(control: Control) -> int:
    """How many effects there were."""
    return len(await control.journal())


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("name", [*LOST, *SPOILED])
async def test_a_broken_connection_leaves_or_prevents_the_effect(
    refund: Refund, control: Control, name: str, when: str
) -> None:
    """The same key tells the truth afterwards: one effect in the end."""
    await control.arm(name, when=when, method="POST")
    with pytest.raises(stripe.APIConnectionError):
        await refund()
    assert await effects(control) == (1 if when == "after" else 0)
    await refund()
    assert await effects(control) == 1
    first, second = await control.requests()
    assert (first["fault"], second["fault"]) == (name, None)
    assert second["replayed"] is (when == "after")


@pytest.mark.parametrize("when", ["before", "after"])
async def test_silence_outlasts_the_client(
    refund: Refund, connect: Connect, control: Control, when: str
) -> None:
    """Nothing comes back, whether the effect took place or not."""
    await control.arm("hang", when=when, method="POST")
    with pytest.raises(stripe.APIConnectionError):
        await refund(by=connect(timeout=IMPATIENT_S))
    assert await effects(control) == (1 if when == "after" else 0)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("name", UNREADABLE)
async def test_a_success_may_be_unreadable(
    refund: Refund, control: Control, name: str, when: str
) -> None:
    """Status 200 with a body that is no JSON."""
    await control.arm(name, when=when, method="POST")
    with pytest.raises(stripe.APIError) as caught:
        await refund()
    assert caught.value.http_status == 200
    assert await effects(control) == (1 if when == "after" else 0)


async def test_a_success_may_be_empty(refund: Refund, control: Control) -> None:
    """The SDK returns quietly; nothing in the answer says what it is."""
    await control.arm("empty_object", method="POST")
    assert "id" not in (await refund()).to_dict()
    assert await effects(control) == 1


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(("name", "status"), STATUSES.items())
async def test_an_error_may_come_before_or_after_the_effect(
    refund: Refund, control: Control, name: str, status: int, when: str
) -> None:
    """The same error either way."""
    await control.arm(name, when=when, method="POST")
    with pytest.raises(stripe.StripeError) as caught:
        await refund()
    assert caught.value.http_status == status
    assert await effects(control) == (1 if when == "after" else 0)


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_500_is_saved(refund: Refund, control: Control, when: str) -> None:
    """The key answers 500 from then on, and the client is told not to retry."""
    await control.arm("error_500", when=when)
    for replayed in (None, "true"):
        with pytest.raises(stripe.APIError) as caught:
            await refund()
        assert caught.value.http_status == 500
        assert caught.value.headers is not None
        assert caught.value.headers["stripe-should-retry"] == "false"
        assert caught.value.headers.get("idempotent-replayed") == replayed
    assert await effects(control) == (1 if when == "after" else 0)


@pytest.mark.parametrize(
    ("saves", "second", "count"), [("result", "ok", 1), ("fault", "error", 1), ("nothing", "ok", 2)]
)
async def test_what_a_gateway_error_leaves_under_the_key_is_a_choice(
    refund: Refund, control: Control, saves: str, second: str, count: int
) -> None:
    """The result, the error, or nothing at all: then the repeat acts again."""
    await control.arm("error_502", when="after", saves=saves)
    with pytest.raises(stripe.APIError):
        await refund()
    if second == "ok":
        await refund()
    else:
        with pytest.raises(stripe.APIError):
            await refund()
    assert await effects(control) == count


async def test_an_effect_behind_a_500_may_be_rolled_back(
    refund: Refund, client: stripe.StripeClient, control: Control
) -> None:
    """It is listed first and gone later; what others did meanwhile stays."""
    await control.arm("error_500_rolled_back", after_s=60)
    with pytest.raises(stripe.APIError):
        await refund()
    listed = await client.v1.refunds.list_async({"charge": "ch_1"})
    assert len(listed.data) == 1
    other = await control.refund_by_hand("ch_1", amount=200)
    await control.edit_metadata("ch_1", note="kept")
    await control.advance(60)
    listed = await client.v1.refunds.list_async({"charge": "ch_1"})
    assert [item.id for item in listed.data] == [other["id"]]
    charge = await control.object("ch_1")
    assert (charge["amount_refunded"], charge["metadata"]) == (200, {"note": "kept"})
    assert [item["status"] for item in await control.journal()] == ["gone", "succeeded"]


async def test_an_effect_behind_a_500_may_come_late(
    refund: Refund, client: stripe.StripeClient, control: Control
) -> None:
    """It appears on flush, with an event that names the request."""
    await control.arm("error_500_late_effect")
    with pytest.raises(stripe.APIError):
        await refund()
    assert await effects(control) == 0
    await control.flush()
    [effect] = await control.journal()
    events = await client.v1.events.list_async({"type": "refund.created"})
    assert events.data[0].request is not None
    assert events.data[0].request.idempotency_key == "key_1"
    assert events.data[0].request.id == effect["request_id"]
    with pytest.raises(stripe.APIError):
        await refund()


async def test_a_canceled_subscription_can_be_rolled_back_too(
    client: stripe.StripeClient, control: Control
) -> None:
    """A state that was reached is left again."""
    await control.seed(subscriptions=[{"id": "sub_1"}])
    await control.arm("error_500_rolled_back", method="DELETE")
    with pytest.raises(stripe.APIError):
        await client.v1.subscriptions.cancel_async("sub_1")
    assert (await client.v1.subscriptions.retrieve_async("sub_1")).status == "canceled"
    await control.flush()
    assert (await client.v1.subscriptions.retrieve_async("sub_1")).status == "active"


@pytest.mark.parametrize("when", ["before", "after"])
async def test_slowness_outlasts_the_client_but_not_the_effect(
    refund: Refund, connect: Connect, control: Control, when: str
) -> None:
    """The client has left; the effect takes place all the same, once."""
    fault = await control.arm("slow", when=when, hold=True, method="POST")
    with pytest.raises(stripe.APIConnectionError):
        await refund(by=connect(timeout=IMPATIENT_S))
    assert await effects(control) == (1 if when == "after" else 0)
    await control.release(fault)
    await control.wait(journal=1, answered=1)
    await refund()
    assert await effects(control) == 1


async def test_a_refused_connection_is_a_true_one(
    refund: Refund, client: stripe.StripeClient, control: Control
) -> None:
    """The port refuses until the fault is cleared; an idle connection does not help."""
    await client.v1.balance.retrieve_async()
    fault = await control.arm("refuse")
    with pytest.raises(stripe.APIConnectionError) as caught:
        await refund()
    assert isinstance(caught.value.__cause__, httpx.ConnectError)
    await control.clear(fault)
    await refund()
    assert await effects(control) == 1


async def test_any_answer_can_be_given(refund: Refund, control: Control) -> None:
    """For what has no name of its own."""
    body = '{"error": {"type": "card_error", "code": "card_declined", "message": "no"}}'
    await control.arm("answer", status=402, body=body, saves="fault")
    for _ in range(2):
        with pytest.raises(stripe.CardError):
            await refund()
    assert await effects(control) == 0

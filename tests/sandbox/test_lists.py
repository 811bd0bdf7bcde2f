"""Lists: order, pages, filters, lag; and expansion."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import stripe

from sandbox.control import Control

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")  # stripe's own
Refund = Callable[..., Coroutine[Any, Any, stripe.Refund]]


async def test_a_list_has_ten_of_the_newest_and_tells_of_more(
    client: stripe.StripeClient, control: Control
) -> None:
    """Unless another limit is asked for."""
    await control.seed(bulk=[{"charges": 38, "amount": 4_900, "amount_step": 100}])
    page = await client.v1.charges.list_async()
    assert [item.id for item in page.data] == [f"ch_bulk_{n:03d}" for n in range(38, 28, -1)]
    assert page.has_more
    assert page.data[0].amount == 4_900 + 37 * 100
    whole = await client.v1.charges.list_async({"limit": 100})
    assert (len(whole.data), whole.has_more) == (38, False)
    with pytest.raises(stripe.InvalidRequestError):
        await client.v1.charges.list_async({"limit": 101})


async def test_pages_follow_each_other_both_ways(
    client: stripe.StripeClient, control: Control
) -> None:
    """By the id after or before which they are."""
    await control.seed(bulk=[{"charges": 5, "prefix": "ch_"}])
    older = await client.v1.charges.list_async({"limit": 2, "starting_after": "ch_004"})
    assert [item.id for item in older.data] == ["ch_003", "ch_002"]
    newer = await client.v1.charges.list_async({"limit": 2, "ending_before": "ch_002"})
    assert [item.id for item in newer.data] == ["ch_004", "ch_003"]
    assert older.has_more
    assert newer.has_more
    everything = await client.v1.charges.list_async({"limit": 2})
    assert len([item.id async for item in everything.auto_paging_iter()]) == 5
    with pytest.raises(stripe.InvalidRequestError):
        await client.v1.charges.list_async({"starting_after": "ch_none"})
    with pytest.raises(stripe.InvalidRequestError):
        await client.v1.charges.list_async({"starting_after": "ch_001", "ending_before": "ch_002"})


async def test_lists_are_filtered_by_creation(
    refund: Refund, client: stripe.StripeClient, control: Control
) -> None:
    """By bounds or by the exact second."""
    first = await refund(key="a")
    await control.advance(100)
    second = await refund(key="b")
    old = await client.v1.refunds.list_async({"created": {"lt": second.created}})
    new = await client.v1.refunds.list_async({"created": {"gt": first.created, "lte": 2**40}})
    exact = await client.v1.refunds.list_async({"created": first.created})
    assert [item.id for item in old.data] == [item.id for item in exact.data] == [first.id]
    assert [item.id for item in new.data] == [second.id]
    wrong: Any = {"created": {"about": 5}}
    with pytest.raises(stripe.InvalidRequestError):
        await client.v1.refunds.list_async(wrong)


async def test_lists_and_events_lag_each_by_their_own_time(
    refund: Refund, client: stripe.StripeClient, control: Control
) -> None:
    """What is new shows up later; what was seeded has always been there."""
    await control.switch(list_lag_s=30, event_lag_s=90)
    made = await refund()
    assert (await client.v1.charges.list_async()).data
    assert (await client.v1.refunds.list_async()).data == []
    assert (await client.v1.refunds.retrieve_async(made.id)).id == made.id
    await control.advance(30)
    assert len((await client.v1.refunds.list_async()).data) == 1
    assert (await client.v1.events.list_async()).data == []
    await control.advance(60)
    assert len((await client.v1.events.list_async()).data) == 2


async def test_ids_expand_into_objects(refund: Refund, client: stripe.StripeClient) -> None:
    """In an object and in the items of a list."""
    await refund()
    intent = await client.v1.payment_intents.retrieve_async("pi_1", {"expand": ["latest_charge"]})
    assert isinstance(intent.latest_charge, stripe.Charge)
    listed = await client.v1.refunds.list_async({"expand": ["data.charge.payment_intent"]})
    charge = listed.data[0].charge
    assert isinstance(charge, stripe.Charge)
    assert isinstance(charge.payment_intent, stripe.PaymentIntent)
    assert isinstance((await client.v1.refunds.list_async()).data[0].charge, str)


async def test_an_earlier_refund_can_be_seeded(
    client: stripe.StripeClient, control: Control
) -> None:
    """It counts on the charge and is no effect of anybody's now."""
    await control.seed(charges=[{"id": "ch_1", "amount": 5_000, "amount_refunded": 1_500}])
    assert (await client.v1.charges.retrieve_async("ch_1")).amount_refunded == 1_500
    assert len((await client.v1.refunds.list_async({"charge": "ch_1"})).data) == 1
    assert await control.journal() == []

"""Payment intents, subscriptions, transfers and payouts."""

from typing import Any

import pytest
import stripe

from sandbox.control import Control

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")  # stripe's own


async def kinds(control: Control) -> list[tuple[str, int | None]]:
    """The journal in short."""
    return [(item["kind"], item["amount"]) for item in await control.journal()]


def at_fault(error: stripe.InvalidRequestError) -> str:
    """The parameter that an error names."""
    body: Any = error.json_body
    return str(body["error"]["param"])


async def test_a_payment_intent_is_captured_once(
    client: stripe.StripeClient, control: Control
) -> None:
    """The second time its state is in the way, and the error shows the state."""
    await control.seed(charges=[{"id": "ch_1", "captured": False, "payment_intent": "pi_1"}])
    before = await client.v1.payment_intents.retrieve_async("pi_1")
    assert (before.status, before.amount_capturable) == ("requires_capture", 5_000)
    done = await client.v1.payment_intents.capture_async("pi_1", {"amount_to_capture": 4_000})
    assert (done.status, done.amount_received) == ("succeeded", 4_000)
    charge = await client.v1.charges.retrieve_async("ch_1")
    assert (charge.captured, charge.amount_captured) == (True, 4_000)
    with pytest.raises(stripe.InvalidRequestError) as caught:
        await client.v1.payment_intents.capture_async("pi_1")
    assert caught.value.code == "payment_intent_unexpected_state"
    body: Any = caught.value.json_body
    assert body["error"]["payment_intent"]["status"] == "succeeded"
    assert await kinds(control) == [("capture", 4_000)]


async def test_no_more_is_captured_than_was_authorized(
    client: stripe.StripeClient, control: Control
) -> None:
    """The amount is at fault."""
    await control.seed(charges=[{"id": "ch_1", "captured": False, "payment_intent": "pi_1"}])
    with pytest.raises(stripe.InvalidRequestError) as caught:
        await client.v1.payment_intents.capture_async("pi_1", {"amount_to_capture": 5_001})
    assert at_fault(caught.value) == "amount_to_capture"


async def test_a_payment_intent_is_canceled_once(
    client: stripe.StripeClient, control: Control
) -> None:
    """And one that has succeeded never."""
    await control.seed(
        payment_intents=[{"id": "pi_1", "amount": 700}],
        charges=[{"id": "ch_2", "payment_intent": "pi_2"}],
    )
    done = await client.v1.payment_intents.cancel_async(
        "pi_1", {"cancellation_reason": "duplicate"}
    )
    assert (done.status, done.cancellation_reason) == ("canceled", "duplicate")
    for intent in ("pi_1", "pi_2"):
        with pytest.raises(stripe.InvalidRequestError) as caught:
            await client.v1.payment_intents.cancel_async(intent)
        assert caught.value.code == "payment_intent_unexpected_state"
    assert await kinds(control) == [("payment_intent_cancel", 700)]
    assert len((await client.v1.payment_intents.list_async()).data) == 2


async def test_a_payment_intent_without_a_charge_cannot_be_refunded(
    client: stripe.StripeClient, control: Control
) -> None:
    """There is nothing to refund."""
    await control.seed(payment_intents=[{"id": "pi_1"}])
    with pytest.raises(stripe.InvalidRequestError):
        await client.v1.refunds.create_async({"payment_intent": "pi_1"})


async def test_a_subscription_is_canceled_once_and_stays_readable(
    client: stripe.StripeClient, control: Control
) -> None:
    """The second DELETE finds nothing, GET does; lists show it only when asked."""
    await control.seed(subscriptions=[{"id": "sub_1"}, {"id": "sub_2", "customer": "cus_2"}])
    done = await client.v1.subscriptions.cancel_async("sub_1")
    assert done.status == "canceled"
    with pytest.raises(stripe.InvalidRequestError) as caught:
        await client.v1.subscriptions.cancel_async("sub_1")
    assert (caught.value.http_status, caught.value.code) == (404, "resource_missing")
    assert (await client.v1.subscriptions.retrieve_async("sub_1")).status == "canceled"
    listed = {
        status: [item.id for item in (await client.v1.subscriptions.list_async(params)).data]
        for status, params in (
            ("", stripe.params.SubscriptionListParams()),
            ("canceled", stripe.params.SubscriptionListParams(status="canceled")),
            ("all", stripe.params.SubscriptionListParams(status="all")),
            ("customer", stripe.params.SubscriptionListParams(customer="cus_2")),
        )
    }
    assert listed == {
        "": ["sub_2"],
        "canceled": ["sub_1"],
        "all": ["sub_2", "sub_1"],
        "customer": ["sub_2"],
    }
    [effect] = await control.journal()
    assert (effect["kind"], effect["target"]) == ("subscription_cancel", "sub_1")


async def test_a_subscription_can_be_updated_until_it_is_canceled(
    client: stripe.StripeClient, control: Control
) -> None:
    """Metadata, and cancelling at the end of the period."""
    await control.seed(subscriptions=[{"id": "sub_1"}])
    changed = await client.v1.subscriptions.update_async(
        "sub_1", {"metadata": {"operation": "op_1"}, "cancel_at_period_end": True}
    )
    assert changed.cancel_at_period_end
    assert (await control.object("sub_1"))["metadata"] == {"operation": "op_1"}


async def test_nothing_but_the_balance_stops_a_second_transfer(
    client: stripe.StripeClient, control: Control
) -> None:
    """They are found by group and by destination."""
    await control.seed(accounts=[{"id": "acct_c"}], balances=[{"currency": "usd", "amount": 2_500}])
    for _ in range(2):
        await client.v1.transfers.create_async(
            {
                "amount": 1_000,
                "currency": "usd",
                "destination": "acct_c",
                "transfer_group": "g_1",
                "metadata": {"operation": "op_1"},
            }
        )
    with pytest.raises(stripe.InvalidRequestError) as caught:
        await client.v1.transfers.create_async(
            {"amount": 1_000, "currency": "usd", "destination": "acct_c"}
        )
    assert caught.value.code == "balance_insufficient"
    assert len((await client.v1.transfers.list_async({"transfer_group": "g_1"})).data) == 2
    assert len((await client.v1.transfers.list_async({"destination": "acct_c"})).data) == 2
    assert await kinds(control) == [("transfer", 1_000), ("transfer", 1_000)]
    balance = await client.v1.balance.retrieve_async()
    assert balance.available[0].amount == 500


async def test_a_transfer_is_reversed_up_to_its_amount(
    client: stripe.StripeClient, control: Control
) -> None:
    """In parts, each found under its transfer."""
    await control.seed(accounts=[{"id": "acct_c"}])
    sent = await client.v1.transfers.create_async(
        {"amount": 1_000, "currency": "usd", "destination": "acct_c"}
    )
    part = await client.v1.transfers.reversals.create_async(sent.id, {"amount": 400})
    rest = await client.v1.transfers.reversals.create_async(sent.id)
    assert (part.amount, rest.amount) == (400, 600)
    with pytest.raises(stripe.InvalidRequestError) as caught:
        await client.v1.transfers.reversals.create_async(sent.id, {"amount": 1})
    assert at_fault(caught.value) == "amount"
    listed = await client.v1.transfers.reversals.list_async(sent.id)
    assert [item.id for item in listed.data] == [rest.id, part.id]
    again = await client.v1.transfers.reversals.retrieve_async(sent.id, part.id)
    assert again.amount == 400
    assert (await client.v1.transfers.retrieve_async(sent.id)).reversed


async def test_a_payout_is_canceled_only_while_pending(
    client: stripe.StripeClient, control: Control
) -> None:
    """A bank may return a paid one days later."""
    first = await client.v1.payouts.create_async({"amount": 1_000, "currency": "usd"})
    second = await client.v1.payouts.create_async({"amount": 2_000, "currency": "usd"})
    assert (await client.v1.payouts.cancel_async(first.id)).status == "canceled"
    await control.settle_payout(second.id, "in_transit")
    listed = await client.v1.payouts.list_async({"status": "in_transit"})
    assert [item.id for item in listed.data] == [second.id]
    with pytest.raises(stripe.InvalidRequestError):
        await client.v1.payouts.cancel_async(second.id)
    await control.settle_payout(second.id, "paid")
    await control.settle_payout(second.id, "failed")
    assert (await client.v1.payouts.retrieve_async(second.id)).failure_code == "account_closed"
    assert (await client.v1.balance.retrieve_async()).available[0].amount == 100_000_000

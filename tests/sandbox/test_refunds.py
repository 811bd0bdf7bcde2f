"""What may be refunded, and what becomes of a refund afterwards."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import stripe

from sandbox.control import Control

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")  # stripe's own
Refund = Callable[..., Coroutine[Any, Any, stripe.Refund]]


async def test_a_refund_takes_effect_once_and_is_in_the_journal(
    refund: Refund, client: stripe.StripeClient, control: Control
) -> None:
    """The journal tells who refunded what, with which key and metadata."""
    made = await refund(metadata={"operation": "op_1"}, reverse_transfer=True)
    assert (made.status, made.amount, made.payment_intent) == ("succeeded", 1_000, "pi_1")
    charge = await client.v1.charges.retrieve_async("ch_1")
    assert (charge.amount_refunded, charge.refunded) == (1_000, False)
    [effect] = await control.journal()
    assert effect["object_id"] == made.id
    assert (effect["target"], effect["amount"], effect["status"]) == ("ch_1", 1_000, "succeeded")
    assert effect["metadata"] == {"operation": "op_1"}
    assert effect["idempotency_key"] == "key_1"
    assert effect["details"] == {"reverse_transfer": True, "refund_application_fee": False}


async def test_without_an_amount_the_rest_is_refunded(refund: Refund) -> None:
    """A second refund takes what the first has left; a third finds nothing."""
    await refund(key="a")
    rest = await refund(key="b", amount=None)
    assert rest.amount == 4_000
    with pytest.raises(stripe.InvalidRequestError) as caught:
        await refund(key="c")
    assert caught.value.code == "charge_already_refunded"


async def test_more_than_is_left_is_refused_by_parameter_without_a_code(refund: Refund) -> None:
    """Stripe names the parameter only."""
    with pytest.raises(stripe.InvalidRequestError) as caught:
        await refund(amount=5_001)
    body: Any = caught.value.json_body
    assert caught.value.http_status == 400
    assert (body["error"]["param"], "code" in body["error"]) == ("amount", False)


async def test_a_payment_intent_can_be_refunded(
    refund: Refund, client: stripe.StripeClient
) -> None:
    """The refund lands on its charge and is found by either."""
    made = await client.v1.refunds.create_async({"payment_intent": "pi_1", "amount": 700})
    assert made.charge == "ch_1"
    by_intent = await client.v1.refunds.list_async({"payment_intent": "pi_1"})
    by_charge = await client.v1.refunds.list_async({"charge": "ch_1"})
    assert [item.id for item in by_intent.data] == [item.id for item in by_charge.data] == [made.id]
    assert refund is not None


@pytest.mark.parametrize(
    ("params", "param", "code"),
    [
        ({"amount": 1}, None, "parameter_missing"),
        ({"charge": "ch_1", "amount": 0}, "amount", None),
        ({"charge": "ch_1", "amount": "1.5"}, "amount", "parameter_invalid_integer"),
        ({"charge": "ch_1", "reason": "whim"}, "reason", None),
        ({"charge": "ch_1", "colour": "red"}, "colour", "parameter_unknown"),
        ({"charge": "ch_1", "metadata": {"k" * 41: "v"}}, "metadata", None),
        ({"charge": "ch_1", "metadata": {"k": "v" * 501}}, "metadata[k]", None),
        ({"charge": "ch_1", "metadata": {str(n): "v" for n in range(51)}}, "metadata", None),
        ({"charge": "ch_1", "reverse_transfer": "maybe"}, "reverse_transfer", None),
    ],
)
async def test_a_malformed_refund_is_refused(
    refund: Refund,
    client: stripe.StripeClient,
    params: Any,
    param: str | None,
    code: str | None,
) -> None:
    """Validation comes first and tells the parameter."""
    assert refund is not None
    with pytest.raises(stripe.InvalidRequestError) as caught:
        await client.v1.refunds.create_async(params)
    error: Any = caught.value.json_body
    found = (error["error"].get("param"), error["error"].get("code"))
    assert (caught.value.http_status, *found) == (400, param, code)


@pytest.mark.parametrize("status", [404, 400])
async def test_an_unknown_charge_is_missing(refund: Refund, control: Control, status: int) -> None:
    """With the status that the switch says."""
    await control.switch(missing_target_status=status)
    with pytest.raises(stripe.InvalidRequestError) as caught:
        await refund(charge="ch_none")
    assert (caught.value.http_status, caught.value.code) == (status, "resource_missing")


async def test_an_uncaptured_charge_cannot_be_refunded(refund: Refund, control: Control) -> None:
    """There is nothing to give back yet."""
    await control.seed(charges=[{"id": "ch_2", "captured": False}])
    with pytest.raises(stripe.InvalidRequestError) as caught:
        await refund(charge="ch_2")
    assert caught.value.code == "charge_not_refundable"


async def test_a_disputed_charge_cannot_be_refunded_until_it_is_won(
    refund: Refund, client: stripe.StripeClient, control: Control
) -> None:
    """The dispute is listed by charge and by payment intent meanwhile."""
    dispute = await control.open_dispute("ch_1")
    with pytest.raises(stripe.InvalidRequestError) as caught:
        await refund(key="a")
    assert caught.value.code == "charge_disputed"
    listed = await client.v1.disputes.list_async({"charge": "ch_1"})
    assert [item.id for item in listed.data] == [dispute["id"]]
    listed = await client.v1.disputes.list_async({"payment_intent": "pi_1"})
    assert listed.data[0].status == "needs_response"
    assert (await client.v1.charges.retrieve_async("ch_1")).disputed
    await control.close_dispute(dispute["id"], "won")
    assert (await refund(key="b")).status == "succeeded"


async def test_a_pending_refund_succeeds_and_fails_later(
    refund: Refund, client: stripe.StripeClient, control: Control
) -> None:
    """A success is no end: the bank may send the money back."""
    await control.switch(refund_status="pending", refund_pending_reason="charge_pending")
    made = await refund()
    assert (made.status, made.pending_reason) == ("pending", "charge_pending")
    await control.settle_refund(made.id, "succeeded")
    assert (await client.v1.refunds.retrieve_async(made.id)).status == "succeeded"
    await control.settle_refund(made.id, "failed", "lost_or_stolen_card")
    failed = await client.v1.refunds.retrieve_async(made.id)
    assert (failed.status, failed.failure_reason) == ("failed", "lost_or_stolen_card")
    assert failed.failure_balance_transaction is not None
    listed = await client.v1.refunds.list_async({"charge": "ch_1"})
    assert [item.status for item in listed.data] == ["failed"]
    assert [effect["status"] for effect in await control.journal()] == ["failed"]


@pytest.mark.parametrize(("frees", "expected"), [(True, 0), (False, 1_000)])
async def test_what_a_failed_refund_does_to_the_charge_is_a_switch(
    refund: Refund, client: stripe.StripeClient, control: Control, *, frees: bool, expected: int
) -> None:
    """Nobody documents it."""
    await control.switch(failed_refund_frees_amount=frees)
    made = await refund()
    await control.settle_refund(made.id, "failed")
    charge = await client.v1.charges.retrieve_async("ch_1")
    assert charge.amount_refunded == expected


async def test_only_a_refund_that_waits_for_the_customer_can_be_canceled(
    refund: Refund, client: stripe.StripeClient, control: Control
) -> None:
    """Any other refuses."""
    done = await refund(key="a")
    with pytest.raises(stripe.InvalidRequestError):
        await client.v1.refunds.cancel_async(done.id)
    await control.switch(refund_status="requires_action")
    waiting = await refund(key="b")
    assert (await client.v1.refunds.cancel_async(waiting.id)).status == "canceled"


async def test_a_refund_beyond_the_balance_waits_for_money(
    refund: Refund, control: Control
) -> None:
    """Stripe holds it as pending."""
    await control.seed(balances=[{"currency": "usd", "amount": 999}])
    made = await refund()
    assert (made.status, made.pending_reason) == ("pending", "insufficient_funds")


async def test_a_person_refunds_by_hand_and_wipes_metadata(
    refund: Refund, client: stripe.StripeClient, control: Control
) -> None:
    """Their refund carries no key and no request; metadata is anybody's to change."""
    ours = await refund(metadata={"operation": "op_1"})
    theirs = await control.refund_by_hand("ch_1", amount=500)
    listed = await client.v1.refunds.list_async({"charge": "ch_1"})
    assert [item.id for item in listed.data] == [theirs["id"], ours.id]
    assert [effect["by"] for effect in await control.journal()] == ["api", "person"]
    await control.edit_metadata(ours.id, note="checked")
    assert (await control.object(ours.id))["metadata"] == {"operation": "op_1", "note": "checked"}
    await control.wipe_metadata(ours.id)
    assert (await client.v1.refunds.retrieve_async(ours.id)).to_dict()["metadata"] == {}


async def test_an_update_changes_metadata_only(refund: Refund, client: stripe.StripeClient) -> None:
    """Keys are set and, when emptied, removed."""
    made = await refund(metadata={"a": "1", "b": "2"})
    changed = await client.v1.refunds.update_async(made.id, {"metadata": {"a": "", "c": "3"}})
    assert changed.to_dict()["metadata"] == {"b": "2", "c": "3"}


async def test_metadata_may_have_numbers_for_keys(refund: Refund, control: Control) -> None:
    """They are names there, not places in a list."""
    made = await refund(metadata={"0": "a", "1": "b"})
    assert (await control.object(made.id))["metadata"] == {"0": "a", "1": "b"}

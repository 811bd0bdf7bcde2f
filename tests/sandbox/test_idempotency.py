"""Idempotency keys: what is remembered, for how long, and by whom."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import stripe

from sandbox.control import Control

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")  # stripe's own
Connect = Callable[..., stripe.StripeClient]
Refund = Callable[..., Coroutine[Any, Any, stripe.Refund]]

DAY_S = 86_400


def headers_of(answer: stripe.Refund) -> Any:
    """The headers that came with an answer."""
    assert answer.last_response is not None
    return answer.last_response.headers


async def test_a_repeated_request_gets_the_first_answer(refund: Refund, control: Control) -> None:
    """Same object, marked as replayed, naming the original request; one effect."""
    first = await refund()
    again = await refund()
    assert again.id == first.id
    assert headers_of(first)["idempotency-key"] == "key_1"
    assert "idempotent-replayed" not in headers_of(first)
    assert headers_of(again)["idempotent-replayed"] == "true"
    assert headers_of(again)["original-request"] == headers_of(first)["request-id"]
    assert headers_of(again)["request-id"] != headers_of(first)["request-id"]
    assert len(await control.journal()) == 1
    assert [item["effect"] for item in await control.requests()] == [True, False]


async def test_a_key_with_other_parameters_is_refused(refund: Refund, control: Control) -> None:
    """400 idempotency_error without a code, and no effect."""
    await refund()
    with pytest.raises(stripe.IdempotencyError) as caught:
        await refund(amount=999)
    assert caught.value.http_status == 400
    assert caught.value.error is not None
    assert caught.value.error.type == "idempotency_error"
    assert getattr(caught.value.error, "code", None) is None
    assert "same parameters" in str(caught.value)
    assert len(await control.journal()) == 1


async def test_the_order_of_parameters_does_not_matter(
    refund: Refund, client: stripe.StripeClient
) -> None:
    """The form is compared, not its bytes."""
    first = await refund()
    again = await client.v1.refunds.create_async(
        {"amount": 1_000, "charge": "ch_1"}, {"idempotency_key": "key_1"}
    )
    assert again.id == first.id


async def test_a_key_at_another_endpoint_is_refused(
    refund: Refund, client: stripe.StripeClient
) -> None:
    """The path, object id included, is part of what was asked."""
    made = await refund()
    with pytest.raises(stripe.IdempotencyError, match="endpoint"):
        await client.v1.refunds.update_async(
            made.id, {"metadata": {"a": "1"}}, {"idempotency_key": "key_1"}
        )


async def test_a_key_that_is_in_use_conflicts(refund: Refund, control: Control) -> None:
    """409 while the first request executes; afterwards its answer."""
    fault = await control.arm("slow", hold=True, method="POST")
    first = asyncio.create_task(refund())
    await control.wait(fault=fault)
    with pytest.raises(stripe.APIError) as caught:
        await refund()
    assert caught.value.http_status == 409
    assert caught.value.error is not None
    assert caught.value.error.code == "idempotency_key_in_use"
    assert caught.value.error.type == "invalid_request_error"
    await control.release(fault)
    assert (await refund()).id == (await first).id
    assert len(await control.journal()) == 1


async def test_a_business_refusal_is_saved(refund: Refund) -> None:
    """The same key repeats it, even once the reason is gone."""
    with pytest.raises(stripe.InvalidRequestError):
        await refund(amount=5_001)
    with pytest.raises(stripe.InvalidRequestError) as caught:
        await refund(amount=5_001)
    assert caught.value.headers is not None
    assert caught.value.headers["idempotent-replayed"] == "true"


async def test_a_refused_validation_is_not_saved(refund: Refund) -> None:
    """The key is still free."""
    with pytest.raises(stripe.InvalidRequestError):
        await refund(reason="whim")
    assert (await refund()).status == "succeeded"


@pytest.mark.parametrize("saved", [True, False])
async def test_whether_a_missing_object_is_saved_is_a_switch(
    refund: Refund, control: Control, *, saved: bool
) -> None:
    """The charge appears between two requests with one key."""
    await control.switch(missing_is_saved=saved)
    with pytest.raises(stripe.InvalidRequestError):
        await refund(charge="ch_2")
    await control.seed(charges=[{"id": "ch_2"}])
    if saved:
        with pytest.raises(stripe.InvalidRequestError):
            await refund(charge="ch_2")
    else:
        assert (await refund(charge="ch_2")).status == "succeeded"


@pytest.mark.parametrize("fault", ["unauthorized_401", "forbidden_403", "rate_limit_429"])
async def test_what_comes_before_the_endpoint_is_not_saved(
    refund: Refund, control: Control, fault: str
) -> None:
    """Credentials and rate limits are checked first."""
    await control.arm(fault)
    with pytest.raises(stripe.StripeError):
        await refund()
    assert "idempotent-replayed" not in headers_of(await refund())


async def test_a_key_is_forgotten_after_exactly_a_day(refund: Refund, control: Control) -> None:
    """A second before it is still remembered; from then on it makes a second effect."""
    first = await refund()
    await control.advance(DAY_S - 60)
    assert (await refund()).id == first.id
    await control.advance(60)
    assert (await refund()).id != first.id
    assert len(await control.journal()) == 2


async def test_an_old_key_may_still_be_there(refund: Refund, control: Control) -> None:
    """'At least a day' allows for that as well."""
    await control.switch(keys_pruned=False)
    first = await refund()
    await control.advance(3 * DAY_S)
    assert (await refund()).id == first.id


async def test_reads_and_deletes_pay_no_heed_to_a_key(
    refund: Refund, client: stripe.StripeClient, control: Control
) -> None:
    """A key of theirs says nothing, even if a refund has used it."""
    await refund()
    await control.seed(subscriptions=[{"id": "sub_1"}])
    charge = await client.v1.charges.retrieve_async("ch_1", options={"idempotency_key": "key_1"})
    assert charge.id == "ch_1"
    done = await client.v1.subscriptions.cancel_async("sub_1", None, {"idempotency_key": "key_1"})
    assert done.status == "canceled"


async def test_a_key_belongs_to_account_and_mode(
    refund: Refund, connect: Connect, control: Control
) -> None:
    """The same key elsewhere is another key."""
    await control.seed(accounts=[{"id": "acct_c"}])
    await control.seed(account="acct_c", charges=[{"id": "ch_1"}])
    await control.seed(livemode=True, charges=[{"id": "ch_1"}])
    made = {
        (await refund()).id,
        (await refund(options={"stripe_account": "acct_c"})).id,
        (await refund(by=connect("sk_live_sandbox"))).id,
    }
    assert len(made) == 3
    places = [(item["account"], item["livemode"]) for item in await control.journal()]
    assert places == [("acct_sandbox", False), ("acct_c", False), ("acct_sandbox", True)]


@pytest.mark.parametrize("what", ["api_key_in_key", "version_in_key"])
@pytest.mark.parametrize("part", ["ignored", "compared", "scoped"])
async def test_what_a_rotated_key_or_another_version_means_is_a_switch(
    refund: Refund, connect: Connect, control: Control, what: str, part: str
) -> None:
    """Ignored: the first answer; compared: refused; scoped: a second effect."""
    await control.switch(**{what: part})
    first = await refund()
    if what == "api_key_in_key":
        await control.rotate_key("sk_test_sandbox", "sk_test_new")
        other = connect("sk_test_new")
    else:
        other = connect(version="2025-01-01.other")
    if part == "compared":
        with pytest.raises(stripe.IdempotencyError):
            await refund(by=other)
        return
    assert ((await refund(by=other)).id == first.id) is (part == "ignored")


async def test_a_key_of_more_than_255_characters_is_refused(refund: Refund) -> None:
    """And one of 255 is not."""
    with pytest.raises(stripe.InvalidRequestError):
        await refund(key="k" * 256)
    assert (await refund(key="k" * 255)).status == "succeeded"


async def test_many_at_once_with_one_key_have_one_effect(refund: Refund, control: Control) -> None:
    """Whoever comes second gets the same answer or a conflict."""
    answers = await asyncio.gather(*(refund() for _ in range(10)), return_exceptions=True)
    ids = {item.id for item in answers if isinstance(item, stripe.Refund)}
    assert len(ids) == 1
    assert len(await control.journal()) == 1

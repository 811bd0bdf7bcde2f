"""The same questions at the sandbox, through the real SDK: judged by its journal."""

import json

import pytest

from ledger.model import Operation, State
from tests.support.hands import Hands
from tests.support.stripe_world import StripeWorld
from tests.support.world import DAY, HOUR, SETTLED, ended

MINUTE = 60.0


async def sent(world: StripeWorld, fault: str, **how: object) -> tuple[Operation, Hands]:
    """A refund whose request met a fault."""
    operation = await world.refund()
    await world.sandbox.arm(fault, method="POST", metadata=str(operation.id), **how)
    me = await world.worker()
    await me.step()
    return operation, me


@pytest.mark.parametrize(
    "fault",
    ["reset", "close", "cut_body", "truncated", "html", "empty_object", "empty_body", "error_502"],
)
async def test_a_spoilt_answer_after_the_effect_is_found_out(
    stripe_world: StripeWorld, fault: str
) -> None:
    """One refund, confirmed by looking, without another request."""
    operation, me = await sent(stripe_world, fault, when="after")
    await stripe_world.live(MINUTE, me)
    [effect] = await stripe_world.effects(operation)
    found = await stripe_world.read(operation)
    assert (found.state, found.reference) == (State.CONFIRMED, effect["object_id"])
    assert await stripe_world.posts() == 1


@pytest.mark.parametrize("fault", ["reset", "error_503", "lock_timeout_429"])
async def test_a_request_that_never_acted_is_sent_again_once_it_has_settled(
    stripe_world: StripeWorld, fault: str
) -> None:
    """The same key and bytes; one refund."""
    operation, me = await sent(stripe_world, fault, when="before")
    await stripe_world.live(SETTLED - 5, me)
    assert await stripe_world.posts() == 1
    await stripe_world.live(MINUTE, me)
    assert len(await stripe_world.effects(operation)) == 1
    assert ended(await stripe_world.read(operation)) == (State.CONFIRMED, None)


@pytest.mark.parametrize("status", ["pending", "requires_action"])
async def test_a_refund_under_way_is_waited_for(stripe_world: StripeWorld, status: str) -> None:
    """It is settled by the bank after a day; then it is confirmed."""
    await stripe_world.sandbox.switch(refund_status=status)
    operation = await stripe_world.refund()
    me = await stripe_world.worker()
    await stripe_world.live(DAY, me)
    waiting = await stripe_world.read(operation)
    assert (waiting.state, waiting.in_doubt) == (State.SENT, False)
    [effect] = await stripe_world.effects(operation)
    await stripe_world.sandbox.settle_refund(effect["object_id"], "succeeded")
    await stripe_world.live(7 * HOUR, me)
    assert ended(await stripe_world.read(operation)) == (State.CONFIRMED, None)
    assert await stripe_world.posts() == 1


async def test_a_refund_that_lacks_funds_is_waited_for(stripe_world: StripeWorld) -> None:
    """Pending for the balance's sake: the case says so, and nothing is sent again."""
    await stripe_world.sandbox.switch(
        refund_status="pending", refund_pending_reason="insufficient_funds"
    )
    operation = await stripe_world.refund()
    me = await stripe_world.worker()
    await stripe_world.live(HOUR, me)
    assert (await stripe_world.read(operation)).decision == "PROVIDER_PENDING"
    considered = await stripe_world.considered(operation)
    assert considered["funds_short"]


async def test_a_refund_that_failed_at_the_bank_ends_as_failed(stripe_world: StripeWorld) -> None:
    """Accepted, pending, failed."""
    await stripe_world.sandbox.switch(refund_status="pending")
    operation = await stripe_world.refund()
    me = await stripe_world.worker()
    await stripe_world.live(MINUTE, me)
    [effect] = await stripe_world.effects(operation)
    await stripe_world.sandbox.settle_refund(effect["object_id"], "failed")
    await stripe_world.live(HOUR, me)
    assert ended(await stripe_world.read(operation)) == (State.FAILED, "PROVIDER_FAILED")


async def test_an_effect_that_comes_after_a_500_is_found(stripe_world: StripeWorld) -> None:
    """A 500 is no refusal: the refund appears an hour later."""
    operation, me = await sent(stripe_world, "error_500_late_effect")
    await stripe_world.live(HOUR, me)
    assert (await stripe_world.read(operation)).decision == "CACHED_500"
    await stripe_world.sandbox.flush()
    await stripe_world.live(11 * MINUTE, me)
    assert ended(await stripe_world.read(operation)) == (State.CONFIRMED, None)
    assert await stripe_world.posts() == 1


async def test_another_refund_in_the_answer_is_not_taken_for_ours(
    stripe_world: StripeWorld,
) -> None:
    """A proxy mixed up two answers, and ours never arrived: sent again, one refund each."""
    other = await stripe_world.refund("ch_2", 1200)
    me = await stripe_world.worker()
    await me.step()
    [theirs] = await stripe_world.effects(other)
    body = await stripe_world.sandbox.object(theirs["object_id"])
    operation, me = await sent(
        stripe_world, "answer", when="before", status=200, body=json.dumps(body), saves="nothing"
    )
    await stripe_world.live(SETTLED + HOUR, me)
    [ours] = await stripe_world.effects(operation)
    found = await stripe_world.read(operation)
    assert (found.state, found.reference) == (State.CONFIRMED, ours["object_id"])


async def test_a_refund_in_the_dashboard_stops_a_resend(stripe_world: StripeWorld) -> None:
    """Somebody did it by hand meanwhile: a person is asked, and finds both facts."""
    operation, me = await sent(stripe_world, "reset", when="before")
    await stripe_world.sandbox.refund_by_hand("ch_1", amount=3000)
    await stripe_world.live(SETTLED + HOUR, me)
    assert await stripe_world.reasons(operation) == ("FOREIGN_EFFECT",)
    assert len(await stripe_world.sandbox.journal()) == 1


async def test_a_dispute_stops_a_resend(stripe_world: StripeWorld) -> None:
    """Money of a disputed charge is the bank's to move."""
    operation, me = await sent(stripe_world, "reset", when="before")
    await stripe_world.sandbox.open_dispute("ch_1")
    await stripe_world.live(SETTLED + HOUR, me)
    assert await stripe_world.reasons(operation) == ("DISPUTED",)
    assert await stripe_world.posts() == 1


async def test_a_wiped_marker_leaves_the_reference_to_tell(stripe_world: StripeWorld) -> None:
    """Without a reference the refund is foreign: a person is asked, nothing is sent."""
    operation, me = await sent(stripe_world, "reset", when="after")
    [effect] = await stripe_world.effects(operation)
    await stripe_world.sandbox.wipe_metadata(effect["object_id"])
    await stripe_world.live(SETTLED + HOUR, me)
    assert await stripe_world.reasons(operation) == ("FOREIGN_EFFECT",)
    assert await stripe_world.posts() == 1


async def test_a_refused_credential_stops_sending_and_asks_once_for_the_account(
    stripe_world: StripeWorld,
) -> None:
    """401 on look-ups: a breaker, one question for all; it closes when they answer again."""
    operations = [await stripe_world.refund(f"ch_{n}", valid_s=3 * HOUR) for n in (1, 2, 3)]
    fault = await stripe_world.sandbox.arm("unauthorized_401", count=None)
    me = await stripe_world.worker()
    await stripe_world.live(50 * MINUTE, me)
    assert await stripe_world.account_reasons() == ()
    await stripe_world.live(20 * MINUTE, me)
    assert await stripe_world.account_reasons() == ("PROVIDER_AUTH",)
    assert [await stripe_world.reasons(o) for o in operations] == [(), (), ()]
    assert await stripe_world.posts() == 0
    await stripe_world.sandbox.clear(fault)
    await stripe_world.live(10 * MINUTE, me)
    assert await stripe_world.account_reasons() == ()
    assert {(await stripe_world.read(o)).state for o in operations} == {State.CONFIRMED}


async def test_an_unreachable_provider_is_asked_about_once(stripe_world: StripeWorld) -> None:
    """After an hour one question for the account; it closes by itself, and all is finished."""
    operation, me = await sent(stripe_world, "reset", when="before")
    fault = await stripe_world.sandbox.arm("error_503", count=None)
    await stripe_world.live(2 * HOUR, me)
    assert await stripe_world.account_reasons() == ("PROVIDER_UNREACHABLE",)
    assert await stripe_world.reasons(operation) == ()
    await stripe_world.sandbox.clear(fault)
    await stripe_world.live(HOUR, me)
    assert await stripe_world.account_reasons() == ()
    assert ended(await stripe_world.read(operation)) == (State.CONFIRMED, None)


async def cancelling(world: StripeWorld) -> Operation:
    """One authorized cancellation."""
    [operation] = await world.authorize("stripe.subscription_cancel", {"subscription": "sub_1"})
    return operation


async def test_a_cancellation_answered_404_after_doubt_is_confirmed(
    stripe_world: StripeWorld,
) -> None:
    """It was cancelled between our look and our repetition: after doubt that counts as ours."""
    operation = await cancelling(stripe_world)
    await stripe_world.sandbox.arm("reset", method="DELETE", when="before")
    me = await stripe_world.worker()
    await stripe_world.live(SETTLED - 5, me)
    second = await stripe_world.sandbox.arm("slow", method="DELETE", hold=True)
    await stripe_world.later(10)
    await me.begin()
    await stripe_world.sandbox.wait(fault=second, times=1)
    await stripe_world.cancel_by_hand("sub_1")
    await stripe_world.sandbox.release(second)
    await me.passes.drain()
    [_, repeat] = (await stripe_world.read(operation)).attempts
    assert repeat.answer is not None
    assert repeat.answer.http_status == 404
    await stripe_world.live(HOUR, me)
    assert ended(await stripe_world.read(operation)) == (State.CONFIRMED, None)
    assert len(await stripe_world.sandbox.journal()) == 1


async def test_a_subscription_that_somebody_else_cancelled_first_is_not_claimed(
    stripe_world: StripeWorld,
) -> None:
    """404 without any doubt: the target is as wanted, and nothing of ours did it."""
    operation = await cancelling(stripe_world)
    me = await stripe_world.worker()
    fault = await stripe_world.sandbox.arm("slow", method="DELETE", hold=True)
    await me.begin()
    await stripe_world.sandbox.wait(fault=fault, times=1)
    await stripe_world.cancel_by_hand("sub_1")
    await stripe_world.sandbox.release(fault)
    await me.passes.drain()
    await stripe_world.live(HOUR, me)
    assert ended(await stripe_world.read(operation)) == (State.FAILED, "ALREADY_SO")


async def test_a_cancellation_answered_500_is_repeated(stripe_world: StripeWorld) -> None:
    """No key, so no 500 is saved under it: the target is looked at, and asked for again."""
    operation = await cancelling(stripe_world)
    await stripe_world.sandbox.arm("error_500", method="DELETE", when="before")
    me = await stripe_world.worker()
    await stripe_world.live(HOUR, me)
    assert await stripe_world.reasons(operation) == ()
    assert ended(await stripe_world.read(operation)) == (State.CONFIRMED, None)

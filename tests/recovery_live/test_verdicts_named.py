"""An effect that a person names stands for one operation, and for none that came after it."""

import asyncio

import pytest

from ledger.errors import StaleCase
from ledger.model import Money, State
from recovery.verdicts import Resolved, Verdict, VerdictRefused
from tests.support.asking import asked, refused
from tests.support.fake_provider import NEVER_ARRIVED
from tests.support.stripe_world import StripeWorld
from tests.support.world import DAY, HOUR, FakeWorld

THIRTY = Money(3000, "eur")
NAMING = [Verdict.HAPPENED, Verdict.DONE_BY_HAND]


@pytest.mark.parametrize("verdict", NAMING)
async def test_an_effect_that_stood_before_the_authorization_is_refused(
    stripe_world: StripeWorld, verdict: Verdict
) -> None:
    """Same charge, same amount, and yet another refund: nothing of ours took effect."""
    older = await stripe_world.sandbox.refund_by_hand("ch_1", amount=2000)
    operation = await stripe_world.refund("ch_1", 2000)
    await stripe_world.sandbox.arm(
        "reset", when="before", method="POST", metadata=str(operation.id), count=None
    )
    me = await stripe_world.worker()
    await stripe_world.live(2 * DAY, me)
    with pytest.raises(VerdictRefused, match="stood before"):
        await me.answer(await stripe_world.question(operation), verdict, reference=older["id"])
    assert (await stripe_world.read(operation)).state is State.SENT


@pytest.mark.parametrize("verdict", NAMING)
async def test_one_effect_by_hand_stands_for_one_operation(
    world: FakeWorld, verdict: Verdict
) -> None:
    """Two were approved, one was done by hand: the other is sent, and can't claim the same one."""
    first, me = await asked(world)
    second = await world.one("fake.look_up", separate=[1])
    done = world.provider.by_hand("ch_1", THIRTY)
    await me.answer(await world.question(first), Verdict.DONE_BY_HAND, reference=done.reference)
    world.provider.plan("ch_1", NEVER_ARRIVED)
    await world.live(HOUR, me)
    assert await world.reasons(second) == ("NO_PROOF",)
    why = await refused(world, me, second, verdict, reference=done.reference)
    assert str(first.id) in why


async def test_two_people_who_name_one_effect_at_the_same_moment_do_not_both_win(
    world: FakeWorld,
) -> None:
    """However their answers cross, one of them is refused or told to read again."""
    first, me = await asked(world)
    world.provider.drift = "another version"
    second = await world.one("fake.look_up", separate=[1])
    await world.live(1, me)
    assert await world.reasons(second) == ("PARAM_DRIFT",)
    done = world.provider.by_hand("ch_1", THIRTY)
    questions = [await world.question(operation) for operation in (first, second)]
    told = await asyncio.gather(
        *(me.answer(one, Verdict.DONE_BY_HAND, reference=done.reference) for one in questions),
        return_exceptions=True,
    )
    assert [type(one) for one in told].count(Resolved) == 1
    assert sum(isinstance(one, VerdictRefused | StaleCase) for one in told) == 1
    assert [(await world.read(one)).never_send for one in (first, second)].count(True) == 1

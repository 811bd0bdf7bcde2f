"""Closed records are compared with the provider again, for a while, and never sent."""

import pytest

from ledger.model import Answer, Liveness, Money, Operation, Outcome, Refusal, State
from tests.support.fake_provider import Plan
from tests.support.hands import Hands
from tests.support.stripe_world import StripeWorld
from tests.support.world import DAY, HOUR, FakeWorld, ended

THIRTY = Money(3000, "eur")
REFUSED = Plan(acts=False, answer=Answer(Outcome.REFUSED, Refusal.FINAL, code="no"))


async def done(world: FakeWorld, *plans: Plan) -> tuple[Operation, Hands]:
    """An operation whose record is closed."""
    world.provider.plan("ch_1", *plans)
    operation = await world.one()
    me = await world.worker()
    await world.live(60, me)
    assert (await world.read(operation)).final
    return operation, me


async def test_a_success_that_fails_later_is_put_before_a_person(world: FakeWorld) -> None:
    """The bank sends it back on the fifth day; the record stands until somebody decides."""
    operation, me = await done(world)
    await world.live(5 * DAY, me)
    world.provider.journal[0].liveness = Liveness.DEAD
    await world.live(3 * DAY + 2 * HOUR, me)
    assert await world.reasons(operation) == ("LATE_FAILURE_AFTER_SUCCESS",)
    assert ended(await world.read(operation)) == (State.CONFIRMED, None)
    assert len(world.provider.requests) == 1


async def test_an_effect_that_vanishes_is_looked_for_and_then_asked_about(
    world: FakeWorld,
) -> None:
    """For an hour it may be a lag; then a person is asked, and it is not sent again."""
    operation, me = await done(world)
    world.provider.journal[0].shown = False
    await world.live(HOUR + 1800, me)
    assert await world.reasons(operation) == ()
    await world.live(HOUR, me)
    assert await world.reasons(operation) == ("EFFECT_VANISHED",)
    assert len(world.provider.requests) == 1


async def test_an_effect_that_is_only_late_in_a_list_is_no_question(world: FakeWorld) -> None:
    """It is back within the hour."""
    operation, me = await done(world)
    world.provider.journal[0].shown = False
    await world.live(HOUR + 1800, me)
    world.provider.journal[0].shown = True
    await world.live(HOUR, me)
    assert await world.reasons(operation) == ()
    assert (await world.read(operation)).decision == "AGREES"


async def test_a_failed_record_whose_effect_comes_late_is_put_before_a_person(
    world: FakeWorld,
) -> None:
    """Refused for good, and yet it is there: the refusal was not the whole truth."""
    operation, me = await done(world, REFUSED)
    world.provider.by_hand("ch_1", THIRTY).marker = world.marker(operation)
    await world.live(2 * HOUR, me)
    assert await world.reasons(operation) == ("LATE_EFFECT",)
    assert ended(await world.read(operation)) == (State.FAILED, "REJECTED")


@pytest.mark.parametrize("plan", [Plan(), REFUSED], ids=["confirmed", "failed"])
async def test_watching_comes_to_an_end(world: FakeWorld, plan: Plan) -> None:
    """After 1 h, 1 d, 7 d and 30 d; then nobody looks any more."""
    operation, me = await done(world, plan)
    seen: list[float] = []
    started = world.at
    world.provider.on_look = lambda _: seen.append((world.at - started).total_seconds())
    await world.live(100 * DAY, me)
    pauses = [later - before for before, later in zip([-60.0, *seen], seen, strict=False)]
    assert [round(pause / HOUR) for pause in pauses] == [1, 24, 7 * 24, 30 * 24]
    assert (await world.read(operation)).next_check_at is None


async def test_what_never_left_is_not_watched(world: FakeWorld) -> None:
    """There is nothing that could come late."""
    operation = await world.one(valid_s=1)
    await world.later(2)
    me = await world.worker()
    await world.live(60, me)
    found = await world.read(operation)
    assert (found.state, found.next_check_at) == (State.FAILED, None)


async def test_a_webhook_has_a_closed_record_compared_at_once(world: FakeWorld) -> None:
    """Not only at the next turn."""
    operation, me = await done(world)
    await world.live(40 * DAY, me)
    world.provider.journal[0].liveness = Liveness.DEAD
    await world.ledger.wake(operation.id, actor="webhook", kind="webhook", told={})
    await world.live(1, me)
    assert await world.reasons(operation) == ("LATE_FAILURE_AFTER_SUCCESS",)


async def test_a_refund_that_fails_at_the_bank_later_is_noticed(
    stripe_world: StripeWorld,
) -> None:
    """The same with the real adapter: succeeded, then failed a day later."""
    operation = await stripe_world.refund()
    me = await stripe_world.worker()
    await stripe_world.live(DAY, me)
    [effect] = await stripe_world.effects(operation)
    await stripe_world.sandbox.settle_refund(effect["object_id"], "failed")
    await stripe_world.live(2 * HOUR, me)
    assert await stripe_world.reasons(operation) == ("LATE_FAILURE_AFTER_SUCCESS",)

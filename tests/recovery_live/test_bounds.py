"""A wait ends in a question even where the provider answers now one way, now another."""

from collections.abc import Callable
from itertools import count, cycle

import pytest

from dispatcher.provider import Look, Trouble
from ledger.model import Liveness, Operation, State
from tests.support.asking import in_doubt
from tests.support.fake_provider import Plan
from tests.support.hands import Hands
from tests.support.world import DAY, HOUR, FakeWorld

MINUTE = 60.0
DOWN = Look(Trouble.UNREACHABLE)


def in_turn(world: FakeWorld, *looks: Look) -> Callable[[Operation], None]:
    """Each look-up says the next of these."""
    turns = cycle(looks)

    def say(_: Operation) -> None:
        world.provider.look = next(turns)

    return say


async def pending(world: FakeWorld) -> tuple[Operation, Hands]:
    """An operation that the provider has taken on and not carried out."""
    world.provider.plan("ch_1", Plan(liveness=Liveness.PENDING))
    operation = await world.one()
    me = await world.worker()
    await me.step()
    return operation, me


@pytest.mark.parametrize(
    "others", [(Trouble.UNAUTHORIZED,), (Trouble.NOT_VISIBLE, Trouble.UNAUTHORIZED)], ids=str
)
async def test_trouble_of_changing_kinds_is_asked_about_in_time(
    world: FakeWorld, others: tuple[Trouble, ...]
) -> None:
    """No kind lasts as long as its limit; together they last beyond every limit."""
    operation, me = await in_doubt(world)
    world.provider.on_look = in_turn(world, DOWN, *(Look(other) for other in others))
    await world.live(HOUR - MINUTE, me)
    assert not await world.reasons(operation)
    assert not await world.account_reasons()
    await world.live(11 * MINUTE, me)
    assert await world.reasons(operation) or await world.account_reasons()


async def test_trouble_that_ends_in_between_is_no_question(world: FakeWorld) -> None:
    """A look-up that says something starts the hour anew."""
    _, me = await pending(world)
    world.provider.on_look = in_turn(world, DOWN, Look(Trouble.UNAUTHORIZED), Look())
    await world.live(DAY, me)
    assert not await world.account_reasons()


async def test_an_outage_now_and_then_does_not_hide_what_is_pending_for_weeks(
    world: FakeWorld,
) -> None:
    """Fourteen days count from the first look that showed it pending."""
    operation, me = await pending(world)
    numbers = count(1)

    def every_tenth_fails(_: Operation) -> None:
        world.provider.look = DOWN if next(numbers) % 10 == 0 else Look()

    world.provider.on_look = every_tenth_fails
    await world.live(13 * DAY, me)
    assert not await world.reasons(operation)
    await world.live(2 * DAY, me)
    assert await world.reasons(operation) == ("PENDING_STALE",)


async def test_an_outage_now_and_then_does_not_hide_an_effect_that_vanished(
    world: FakeWorld,
) -> None:
    """The record is closed; every other look at it fails."""
    operation = await world.one()
    me = await world.worker()
    await me.step()
    assert (await world.read(operation)).state is State.CONFIRMED
    [done] = world.provider.effects_of(operation)
    done.shown = False
    world.provider.on_look = in_turn(world, Look(), DOWN)
    await world.live(DAY, me)
    assert await world.reasons(operation) == ("EFFECT_VANISHED",)

"""A database clock that leaps while nothing has been sent yet: nothing leaves until they agree."""

from dataclasses import replace

from dispatcher.deadline import Deadline, SystemClock
from ledger.model import Outcome, State
from ledger.postgres.clock import advance
from tests.support.stripe_world import StripeWorld
from tests.support.world import HOUR

LEAP_S = 5 * HOUR


async def _leap(world: StripeWorld, seconds: float) -> None:
    async with world.ledger.pool.connection() as connection:
        await advance(connection, seconds)


async def test_nothing_leaves_at_once_under_a_database_clock_hours_ahead(
    stripe_world: StripeWorld,
) -> None:
    """The window would begin in the future, and end when the key is long forgotten."""
    operation = await stripe_world.refund(valid_s=24 * HOUR)
    hands = await stripe_world.worker()
    [held] = await stripe_world.ledger.claim(hands.worker, share=1, lease_s=90)
    await _leap(stripe_world, LEAP_S)
    held = replace(held, fence=(await stripe_world.read(operation)).fence)
    async with stripe_world.ledger.pool.connection() as connection:
        await connection.execute("UPDATE operations SET lease_until = ledger_now() + '1 min'")
    sent = await hands.dispatcher.dispatch(held)
    assert (sent.answer.outcome, sent.answer.code) == (Outcome.NOT_SENT, "clocks_disagree")
    assert await stripe_world.posts() == 0
    assert not (await stripe_world.read(operation)).in_doubt


async def test_a_leap_ends_in_one_effect_once_the_clocks_agree(stripe_world: StripeWorld) -> None:
    """The worker looks, sees that they differ, waits, and sends when they do not any more."""
    operation = await stripe_world.refund(valid_s=24 * HOUR)
    hands = await stripe_world.worker()
    await _leap(stripe_world, LEAP_S)
    await stripe_world.live(HOUR, hands)
    assert await stripe_world.posts() == 0
    assert stripe_world.control is not None
    await stripe_world.control.advance(LEAP_S)
    await stripe_world.live(HOUR, hands)
    assert (await stripe_world.read(operation)).state is State.CONFIRMED
    assert len(await stripe_world.effects(operation)) == 1


def test_clocks_within_a_minute_agree() -> None:
    """And what was never heard, or never gated, is not guessed."""
    never = Deadline.after(5.0, SystemClock())
    near = replace(never, ledger_ahead_s=7_200.0)
    assert not never.clocks_disagree(1e6)
    assert not near.clocks_disagree(None)
    assert not near.clocks_disagree(7_200.0 + 59)
    assert near.clocks_disagree(7_200.0 + 61)
    assert near.clocks_disagree(0.0)

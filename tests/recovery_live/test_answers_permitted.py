"""Inside its window, under its credential, under its authorization: or not sent again."""

import pytest

from ledger.model import State
from tests.support.asking import in_doubt
from tests.support.world import HOUR, SETTLED, FakeWorld, ended


@pytest.mark.parametrize(("away_s", "effects"), [(22.9 * HOUR, 1), (23.1 * HOUR, 0)])
async def test_the_same_key_is_sent_again_only_inside_its_window(
    world: FakeWorld, away_s: float, effects: int
) -> None:
    """23 h: the provider promises 24, and one is kept in hand."""
    operation, me = await in_doubt(world, resend_s=48 * HOUR)
    await world.later(away_s)
    await world.live(60, me)
    assert len(world.provider.journal) == effects
    assert await world.reasons(operation) == (() if effects else ("WINDOW_EXPIRED",))


async def test_a_key_may_be_unknown_under_another_credential(world: FakeWorld) -> None:
    """The key was rotated: sent again, it could act a second time."""
    operation, me = await in_doubt(world)
    world.provider.credential = "cred-2"
    await world.live(SETTLED + HOUR, me)
    assert await world.reasons(operation) == ("CREDENTIAL_CHANGED",)
    assert len(world.provider.requests) == 1


async def test_an_authorization_that_ends_before_the_first_send_ends_the_operation(
    world: FakeWorld,
) -> None:
    """Expired by a minute: failed, without effect and without a question."""
    operation = await world.one(valid_s=60)
    await world.later(61)
    me = await world.worker()
    await world.live(HOUR, me)
    assert ended(await world.read(operation)) == (State.FAILED, "AUTH_EXPIRED_NO_EFFECT")
    assert world.provider.requests == []


async def test_a_revoked_authorization_ends_the_operation(world: FakeWorld) -> None:
    """Before the first send: failed; the revocation said that nothing had left."""
    operation = await world.one()
    revoked = await world.ledger.revoke(operation.authorization.id, by="person:i", reason="no")
    assert (revoked.stopped, revoked.had_left) == ((operation.id,), ())
    me = await world.worker()
    await world.live(HOUR, me)
    assert ended(await world.read(operation)) == (State.FAILED, "AUTH_REVOKED_NO_EFFECT")
    assert world.provider.requests == []


async def test_an_authorization_revoked_in_doubt_stops_a_resend(world: FakeWorld) -> None:
    """The revocation says that it had left; a person decides about the rest."""
    operation, me = await in_doubt(world)
    revoked = await world.ledger.revoke(operation.authorization.id, by="person:i", reason="no")
    assert revoked.had_left == (operation.id,)
    await world.live(SETTLED + HOUR, me)
    assert await world.reasons(operation) == ("AUTH_REVOKED_INDETERMINATE",)
    assert len(world.provider.requests) == 1


async def test_an_authorization_that_ends_in_doubt_stops_a_resend(world: FakeWorld) -> None:
    """`resend_until` counts, not the key's window."""
    operation, me = await in_doubt(world, resend_s=SETTLED - 1)
    await world.live(SETTLED + HOUR, me)
    assert await world.reasons(operation) == ("AUTH_EXPIRED_INDETERMINATE",)
    assert len(world.provider.requests) == 1

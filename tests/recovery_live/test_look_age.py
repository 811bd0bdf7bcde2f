"""A look-up tells of the moment when it began, however long it took: its age is measured."""

import itertools
from collections.abc import Callable

import pytest

import recovery.observe
from recovery.assess import assess
from recovery.case import Seen
from recovery.observe import observe
from tests.support.fake_provider import NEVER_ARRIVED
from tests.support.world import SETTLED, FakeWorld


class Boot:
    """A clock since boot that steps on each time it is read."""

    def __init__(self, step_s: float) -> None:
        self._times = itertools.count(1_000.0, step_s)

    def boot_s(self) -> float:
        """The next moment."""
        return next(self._times)


def stepping(step_s: float) -> Callable[[], float]:
    """A wall clock that steps on each time it is read."""
    times = itertools.count(1_700_000_000.0, step_s)
    return lambda: next(times)


@pytest.mark.parametrize(
    ("wall_step_s", "boot_step_s"),
    [(300.0, 0.0), (0.0, 300.0), (-50.0, 300.0)],
    ids=["stopped with the machine", "wall clock set", "wall clock set back"],
)
async def test_the_longer_of_two_clocks_says_how_old_a_look_is(
    world: FakeWorld, monkeypatch: pytest.MonkeyPatch, wall_step_s: float, boot_step_s: float
) -> None:
    """One may be set, the other may not run through suspend."""
    monkeypatch.setattr(recovery.observe, "SystemClock", lambda: Boot(boot_step_s))
    operation = await world.one()
    sighting = await observe(
        operation,
        world.types.get(operation.type),
        world.ledger,
        world.timing,
        world.limits,
        wall_s=stepping(wall_step_s),
    )
    assert sighting.world.look_age_s == 300.0


async def test_a_look_that_began_before_everything_settled_settles_nothing(
    world: FakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What arrived while it lasted is not in it: absent, but not yet to be believed."""
    world.provider.plan("ch_1", NEVER_ARRIVED)
    operation = await world.one()
    me = await world.worker()
    await me.step()
    await world.later(SETTLED + 10)
    for age_s, settled in ((300.0, False), (0.0, True)):
        clock = Boot(age_s)
        monkeypatch.setattr(recovery.observe, "SystemClock", lambda clock=clock: clock)
        held = await world.read(operation)
        sighting = await observe(
            held,
            world.types.get(held.type),
            world.ledger,
            world.timing,
            world.limits,
            wall_s=stepping(0.0),
        )
        case = assess(held, sighting.look, sighting.world, sighting.at)
        assert (case.seen, case.settled) == (Seen.ABSENT, settled)

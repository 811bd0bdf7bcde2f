"""The database's clock leaps hours ahead of the provider's, or comes back, under load."""

from pathlib import Path

from ledger.postgres.clock import advance, mark_test_database
from ledger.postgres.connect import Database
from tests.chaos.cluster import engine
from tests.chaos.report import Row
from tests.chaos.town import Plan, Town, town

ROUNDS = 10
FEW = 2
LEAP_S = 3 * 3_600.0
FLOW = 6
EXPIRED = frozenset({"AUTH_EXPIRED_NO_EFFECT"})
"""What was authorized for less than the leap may end so: nothing was sent, and it says so."""


async def play(folder: Path, rounds: int) -> Row:
    """Each round leaps ahead; then the provider turns out to be late, or the database comes back.

    A database that came back sends nothing before it has reached its own high-water mark again,
    like a standby that was promoted and is hours behind.
    """
    async with engine() as (_, address):
        dsn = address.dsn()
        async with await Database(dsn).open() as clock:
            await mark_test_database(clock)
            async with town(Plan(dsn, dsn, may_fail=EXPIRED), folder) as place:
                async with place.busy() as load:
                    await load.flow(5)
                    for number in range(rounds):
                        await advance(clock, LEAP_S)
                        await _nothing_leaves(place, "while the database was ahead")
                        if number % 2:
                            await advance(clock, -LEAP_S)
                            await _nothing_leaves(place, "before the database's own mark")
                            await place.control.advance(LEAP_S)
                            await advance(clock, LEAP_S)
                        else:
                            await place.control.advance(LEAP_S)
                        place.rounds += 1
                        await load.flow(FLOW)
                return await place.row("clock-jump")


async def _nothing_leaves(place: Town, when: str) -> None:
    """Agents are answered, and nothing takes effect once what was on its way has arrived."""
    await place.load.flow(FLOW)
    before = len(await place.control.journal())
    await place.load.flow(FLOW)
    left = len(await place.control.journal()) - before
    place.expect(left == 0, f"{left} effects {when}")

"""What bounds recovery's own acts: brakes, caps, the canary, breakers, budgets, busy targets."""

import asyncio
from dataclasses import replace

import pytest

from dispatcher.provider import Trouble
from ledger.model import Answer, Operation, Outcome, Refusal, State
from recovery.limits import Limits
from sidecar.worker.readings import ReadBudget
from tests.support.fake_provider import ANSWER_LOST, NEVER_ARRIVED, Plan
from tests.support.world import DAY, HOUR, SETTLED, FakeWorld, fake_world
from tests.support.writes import query

MINUTE = 60.0


async def lost(world: FakeWorld, count: int, amount_minor: int = 3000) -> list[Operation]:
    """Operations on targets of their own, whose requests never arrived."""
    names = [f"ch_{number:02}" for number in range(count)]
    for name in names:
        world.provider.plan(name, NEVER_ARRIVED)
    items = [{"object": name, "amount_minor": amount_minor} for name in names]
    return await world.authorize("fake.keyed", *items)


async def confirmed(world: FakeWorld, operations: list[Operation]) -> int:
    """How many of them have been confirmed."""
    states = [(await world.read(o)).state for o in operations]
    return states.count(State.CONFIRMED)


@pytest.mark.parametrize("scope", ["all", "provider:fake", "type:fake.keyed"])
async def test_a_brake_stops_sending_and_nothing_else(world: FakeWorld, scope: str) -> None:
    """Look-ups go on, and what they find is finished; released, the rest is sent."""
    world.provider.plan("ch_found", ANSWER_LOST)
    world.provider.plan("ch_lost", NEVER_ARRIVED)
    found, gone = await world.one(on="ch_found"), await world.one(on="ch_lost")
    me = await world.worker()
    await me.step()
    await world.ledger.switches.set_brake(scope, by="person:o", reason="stop")
    fresh = await world.one(on="ch_fresh")
    await world.live(HOUR / 2, me)
    assert (await world.read(found)).state is State.CONFIRMED
    assert (await world.read(gone)).decision == "NOT_YET_BRAKE"
    assert (await world.read(fresh)).state is State.CREATED
    assert len(world.provider.requests) == 2
    assert await world.ledger.switches.release_brake(scope, by="person:ines")
    await world.live(HOUR / 4, me)
    assert await confirmed(world, [found, gone, fresh]) == 3


async def test_a_released_brake_lets_go_at_once(world: FakeWorld) -> None:
    """What it held does not wait its backoff out."""
    held = await world.one(on="ch_held")
    me = await world.worker()
    await world.ledger.switches.set_brake("all", by="person:o", reason="stop")
    await world.live(HOUR / 2, me)
    assert (await world.read(held)).decision == "NOT_YET_BRAKE"
    assert (await world.read(held)).state is State.CREATED
    assert not await world.ledger.switches.release_brake("type:fake.mail", by="person:ines")
    await world.live(1, me)
    assert (await world.read(held)).state is State.CREATED
    assert await world.ledger.switches.release_brake("all", by="person:ines")
    await world.live(1, me)
    assert (await world.read(held)).state is State.CONFIRMED


async def test_another_types_brake_holds_nothing(world: FakeWorld) -> None:
    """A brake has a scope."""
    await world.ledger.switches.set_brake("type:fake.mail", by="person:o", reason="stop")
    operation = await world.one()
    me = await world.worker()
    await world.live(1, me)
    assert (await world.read(operation)).state is State.CONFIRMED


async def test_resends_are_capped_by_their_number_in_an_hour(ledger_dsn: str) -> None:
    """Three this hour, three the next, three the one after."""
    async with fake_world(ledger_dsn, limits=Limits(resends_per_hour=3)) as world:
        await _to_the_full_hour(world)
        operations = await lost(world, 8)
        me = await world.worker()
        await world.live(50 * MINUTE, me)
        assert await confirmed(world, operations) == 3
        await world.live(HOUR, me)
        assert await confirmed(world, operations) == 6
        await world.live(HOUR, me)
        assert await confirmed(world, operations) == 8


async def test_resends_are_capped_by_their_money_in_an_hour(ledger_dsn: str) -> None:
    """70.00 allow two of 30.00; a single one above the cap never goes by itself."""
    async with fake_world(ledger_dsn, limits=Limits(resent_minor_per_hour=7000)) as world:
        await _to_the_full_hour(world)
        operations = await lost(world, 3)
        world.provider.plan("ch_huge", NEVER_ARRIVED)
        huge = await world.one(on="ch_huge", amount_minor=7001)
        me = await world.worker()
        await world.live(50 * MINUTE, me)
        assert await confirmed(world, operations) == 2
        await world.live(HOUR, me)
        assert await confirmed(world, operations) == 3
        assert (await world.read(huge)).decision == "NOT_YET_CAP"


async def test_a_first_send_is_under_no_cap(ledger_dsn: str) -> None:
    """Caps are for resends after doubt: what was just approved goes."""
    async with fake_world(ledger_dsn, limits=Limits(resends_per_hour=1)) as world:
        items = [{"object": f"ch_{n}", "amount_minor": 1} for n in range(5)]
        operations = await world.authorize("fake.keyed", *items)
        me = await world.worker()
        await world.live(1, me)
        assert await confirmed(world, operations) == 5


async def test_after_an_outage_one_goes_first(world: FakeWorld) -> None:
    """The canary is lost: the others wait for the next one; it comes through: all go."""
    operations = await lost(world, 4)
    me = await world.worker()
    await me.step()
    world.provider.look = replace(world.provider.look, trouble=Trouble.UNREACHABLE)
    await world.live(SETTLED + MINUTE, me)
    world.provider.look = replace(world.provider.look, trouble=None)
    for number in range(4):
        world.provider.plan(f"ch_{number:02}", NEVER_ARRIVED)
    await world.live(200, me)
    assert len(world.provider.requests) == 4 + 1
    for number in range(4):
        world.provider.plan(f"ch_{number:02}", Plan())
    await world.live(HOUR, me)
    assert await confirmed(world, operations) == 4
    assert len(world.provider.journal) == 4


async def test_a_refused_credential_opens_the_breaker_for_all(world: FakeWorld) -> None:
    """One look-up is told 401: nobody sends with that credential for a while."""
    world.provider.troubled["ch_1"] = Trouble.UNAUTHORIZED
    first = await world.one(on="ch_1")
    me = await world.worker()
    await me.step()
    second = await world.one(on="ch_2")
    world.provider.look = replace(world.provider.look, trouble=Trouble.NOT_VISIBLE)
    await world.live(10, me)
    stopped = await world.ledger.pool.row("world", id=second.id, credential="cred-1", unseen=[])
    assert stopped is not None
    assert stopped["stopped"] == "breaker_open"
    world.provider.look = replace(world.provider.look, trouble=None)
    world.provider.troubled.clear()
    await world.live(10 * MINUTE, me)
    assert await confirmed(world, [first, second]) == 2


async def test_two_replicas_never_read_more_than_was_granted(world: FakeWorld) -> None:
    """A burst of 40, then 20 a second, however many ask."""
    limits = Limits()

    async def pause(seconds: float) -> None:
        raise TimeoutError(seconds)

    budgets = [
        ReadBudget(world.ledger.switches, "fake", "cred-1", limits, pause=pause) for _ in range(2)
    ]

    async def reads(most: int) -> int:
        for done in range(most + 1):
            try:
                await budgets[done % 2].wait()
            except TimeoutError:
                return done
        raise AssertionError(f"more than {most} reads were let go")

    assert await reads(limits.reads_burst) == limits.reads_burst
    await world.later(1)
    assert await reads(20 + limits.reads_chunk) > 0


async def test_retry_after_is_obeyed(world: FakeWorld) -> None:
    """429, in ten minutes: not a second earlier, and at most a quarter later."""
    told = Answer(Outcome.REFUSED, Refusal.BEFORE_ENDPOINT, http_status=429, retry_after_s=600)
    world.provider.plan("ch_1", Plan(acts=False, answer=told))
    operation = await world.one()
    me = await world.worker()
    await world.live(599, me)
    await world.ledger.wake(operation.id, actor="t", kind="webhook", told={})
    await me.step()
    assert len(world.provider.requests) == 1
    await world.live(160, me)
    assert (await world.read(operation)).state is State.CONFIRMED


async def test_a_target_in_doubt_is_left_alone(world: FakeWorld) -> None:
    """The second operation on it goes when the first has ended, and only then."""
    world.provider.plan("ch_1", NEVER_ARRIVED)
    first = await world.one(amount_minor=100)
    me = await world.worker()
    await me.step()
    second = await world.one(amount_minor=200, separate=[1])
    await world.live(SETTLED - 5, me)
    assert (await world.read(second)).decision == "NOT_YET_TARGET_BUSY"
    assert len(world.provider.requests) == 1
    await world.live(HOUR / 2, me)
    assert await confirmed(world, [first, second]) == 2


async def test_clocks_that_disagree_send_nothing(world: FakeWorld) -> None:
    """The provider's date is two minutes off: look-ups go on, sending waits."""
    skew = world.at.timestamp()
    world.provider.look = replace(world.provider.look, skew_s=skew)
    operation = await world.one(valid_s=DAY)
    me = await world.worker()
    await world.live(HOUR, me)
    assert (await world.read(operation)).decision == "NOT_YET_CLOCK"
    assert world.provider.requests == []
    world.provider.look = replace(world.provider.look, skew_s=None)
    await world.live(HOUR, me)
    assert (await world.read(operation)).state is State.CONFIRMED


async def _to_the_full_hour(world: FakeWorld) -> None:
    await world.later(HOUR - world.at.timestamp() % HOUR + 1)


async def test_replicas_that_ask_first_of_all_share_the_budget(world: FakeWorld) -> None:
    """Neither finds a budget to lock; what both were granted is taken from one."""
    ledger = world.ledger
    asked = [
        ledger.switches.take_reads("fake", "cred-1", wanted=10, per_s=1.0, burst=40)
        for _ in range(5)
    ]
    granted = sum(await asyncio.gather(*asked))
    [row] = await query(ledger, "SELECT reads_left FROM read_budgets")
    assert granted + row["reads_left"] == pytest.approx(40, abs=1)


async def test_replicas_that_ask_often_lose_nothing_of_the_budget(world: FakeWorld) -> None:
    """Three ask eight times while it grows by one: that one is granted, and to one of them."""

    async def take(times: int) -> int:
        leased = [
            await world.ledger.switches.take_reads("fake", "cred-1", wanted=10, per_s=1.0, burst=40)
            for _ in range(times)
        ]
        return sum(leased)

    assert await take(4) == 40
    granted = 0
    for _ in range(8):
        await world.later(0.125)
        granted += await take(3)
    assert granted == 1

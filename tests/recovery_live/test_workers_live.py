"""Workers that die, stall, leave or take over: nobody's operation is lost or done twice."""

import asyncio

import pytest

from dispatcher.provider import Trouble
from ledger.errors import WorkerFenced
from ledger.model import Liveness, Operation, State
from tests.support.fake_provider import NEVER_ARRIVED, Plan
from tests.support.hands import Hands
from tests.support.world import DAY, HOUR, SETTLED, FakeWorld
from tests.support.writes import history


async def sending(world: FakeWorld, identity: str = "a") -> tuple[Operation, Hands, asyncio.Event]:
    """An operation that a worker is sending: the effect is there, the answer is not."""
    held = asyncio.Event()
    world.provider.plan("ch_1", Plan(held=held))
    operation = await world.one()
    sender = await world.worker(identity)
    await sender.begin()
    await world.provider.arrived.wait()
    return operation, sender, held


async def beating(world: FakeWorld, seconds: float, *hands: Hands) -> None:
    """Let time pass with a heartbeat every second."""
    for _ in range(round(seconds)):
        await world.later(1)
        for one in hands:
            await one.passes.beat()


async def test_a_crash_is_noticed_within_the_time_to_live(world: FakeWorld) -> None:
    """Ten seconds without a heartbeat: another worker takes over, and finds the effect."""
    operation, _, held = await sending(world)
    other = await world.worker("b")
    await beating(world, 9, other)
    await other.step()
    assert (await world.read(operation)).state is State.SENT
    await beating(world, 2, other)
    await other.step()
    await world.live(1, other)
    assert (await world.read(operation)).state is State.CONFIRMED
    assert len(world.provider.journal) == 1
    held.set()


async def test_a_restart_under_the_same_identity_takes_over_at_once(world: FakeWorld) -> None:
    """Its lock was free, so the former one is dead."""
    operation, _, held = await sending(world, "a")
    again = await world.worker("a")
    await again.step()
    await world.live(0.5, again)
    assert (await world.read(operation)).state is State.CONFIRMED
    assert len(world.provider.journal) == 1
    held.set()


async def test_the_same_identity_on_another_host_waits(world: FakeWorld) -> None:
    """A lock on one host proves nothing about another."""
    operation, _, held = await sending(world, "a")
    elsewhere = await world.worker("a", host="there")
    await elsewhere.step()
    assert (await world.read(operation)).state is State.SENT
    assert "orphaned" not in await history(world.ledger, operation.id)
    held.set()


async def test_who_has_not_beaten_for_a_time_to_live_fences_nobody(world: FakeWorld) -> None:
    """After a failover of the database everybody looks dead to whoever comes first."""
    operation, _, held = await sending(world, "a")
    await world.later(60)
    fresh = await world.worker("b")
    await fresh.step()
    assert "orphaned" not in await history(world.ledger, operation.id)
    held.set()


async def test_a_sender_that_was_taken_for_dead_stops_and_changes_nothing(
    world: FakeWorld,
) -> None:
    """It wakes up late: its answer is evidence, its heartbeat is refused."""
    operation, sender, held = await sending(world)
    other = await world.worker("b")
    await beating(world, 11, other)
    await other.step()
    await world.live(1, other)
    before = await world.read(operation)
    held.set()
    await sender.passes.drain()
    after = await world.read(operation)
    assert (after.state, after.reference) == (before.state, before.reference)
    with pytest.raises(WorkerFenced):
        await sender.passes.beat()


async def test_a_worker_that_leaves_finishes_what_it_has_in_hand(world: FakeWorld) -> None:
    """Stop, drain, leave: the answer is recorded first, and the rest is free at once."""
    operation, sender, held = await sending(world)
    draining = asyncio.create_task(sender.passes.drain())
    await asyncio.sleep(0)
    assert not draining.done()
    held.set()
    await draining
    await sender.passes.leave()
    assert (await world.read(operation)).state is State.CONFIRMED
    with pytest.raises(WorkerFenced):
        await sender.passes.beat()


async def test_a_worker_that_leaves_in_a_hurry_frees_what_it_holds(world: FakeWorld) -> None:
    """What it was sending is due for the next one at once, under a new fence."""
    operation, sender, held = await sending(world)
    await sender.passes.leave()
    other = await world.worker("b")
    await other.step()
    assert (await world.read(operation)).state is State.CONFIRMED
    assert len(world.provider.journal) == 1
    held.set()


async def test_a_stuck_account_starves_no_other(world: FakeWorld) -> None:
    """Its look-ups hang; the other account's operations are finished meanwhile."""
    stuck = asyncio.Event()

    async def look(operation: Operation) -> None:
        if operation.subject.account == "acct_stuck":
            await stuck.wait()

    world.provider.on_look = look
    items = [{"object": f"s_{n}", "amount_minor": 1, "account": "acct_stuck"} for n in range(40)]
    await world.authorize("fake.keyed", *items)
    good = await world.authorize(
        "fake.keyed", *({"object": f"g_{n}", "amount_minor": 1} for n in range(20))
    )
    me = await world.worker()
    for _ in range(20):
        await world.later(0.01)
        await me.begin()
        await asyncio.gather(*(t for t in me.tasks() if t.get_name() in _names(good)))
    assert {(await world.read(o)).state for o in good} == {State.CONFIRMED}
    assert len(me.tasks()) < 2 * world.limits.claims
    stuck.set()
    await me.passes.drain()


async def test_many_workers_do_each_operation_once(world: FakeWorld) -> None:
    """Five at once over forty lost requests: one effect each, no more."""
    names = [f"ch_{n:02}" for n in range(40)]
    for name in names:
        world.provider.plan(name, NEVER_ARRIVED)
    operations = await world.authorize(
        "fake.keyed", *({"object": name, "amount_minor": 1} for name in names)
    )
    crew = [await world.worker(f"w{n}") for n in range(5)]
    for _ in range(4):
        await asyncio.gather(*(one.step() for one in crew))
        await world.later(SETTLED)
    await world.live(HOUR, *crew)
    assert {(await world.read(o)).state for o in operations} == {State.CONFIRMED}
    assert len(world.provider.journal) == 40
    assert len({done.marker for done in world.provider.journal}) == 40


async def test_an_unreachable_provider_is_no_reason_to_lose_anything(world: FakeWorld) -> None:
    """A day without it, with workers coming and going: then all is finished."""
    operation = await world.one(valid_s=2 * DAY, resend_s=2 * DAY)
    world.provider.troubled["ch_1"] = Trouble.UNREACHABLE
    for number in range(4):
        me = await world.worker(f"w{number}")
        await world.live(6 * HOUR, me)
        await me.passes.leave()
    world.provider.troubled.clear()
    await world.live(HOUR, await world.worker("last"))
    assert (await world.read(operation)).state is State.CONFIRMED


def _names(operations: list[Operation]) -> set[str]:
    return {str(operation.id) for operation in operations}


async def test_a_webhook_before_the_answer_has_the_operation_looked_at_after_it(
    world: FakeWorld,
) -> None:
    """Its sender is not taken from, and what was learned meanwhile does not wait ten minutes."""
    answered = asyncio.Event()
    world.provider.plan("ch_1", Plan(liveness=Liveness.PENDING, held=answered))
    operation = await world.one()
    me = await world.worker()
    sending = asyncio.create_task(me.step())
    await world.provider.arrived.wait()
    await world.ledger.wake(operation.id, actor="webhook", kind="webhook", told={})
    assert (await world.read(operation)).owner is not None
    answered.set()
    await sending
    found = await world.read(operation)
    assert (found.state, found.in_doubt) == (State.SENT, False)
    assert found.next_check_at == await world.ledger.now()


async def test_a_worker_takes_more_as_soon_as_half_its_share_is_done(world: FakeWorld) -> None:
    """An outage's orphans: the read budget bounds how fast they go, not the pause of the passes."""
    share = world.limits.claims
    names = [f"ch_{number:02}" for number in range(3 * share)]
    operations = await world.authorize(
        "fake.keyed", *({"object": name, "amount_minor": 100} for name in names)
    )
    me = await world.worker()
    await me.passes.beat()
    await me.passes.until_idle(lambda: False, pause_s=60)
    await me.passes.drain()
    states = {(await world.read(operation)).state for operation in operations}
    assert states == {State.CONFIRMED}
    assert len(world.provider.journal) == 3 * share


async def test_a_worker_does_not_wait_for_room_longer_than_a_pause(world: FakeWorld) -> None:
    """A provider that hangs: what falls due at other accounts is looked for all the same."""
    held = asyncio.Event()
    share = world.limits.claims
    names = [f"ch_{number:02}" for number in range(share + 1)]
    for name in names:
        world.provider.plan(name, Plan(held=held))
    await world.authorize("fake.keyed", *({"object": name, "amount_minor": 100} for name in names))
    me = await world.worker()
    async with asyncio.timeout(30):
        await me.passes.until_idle(lambda: False, pause_s=0.01)
    held.set()
    await me.passes.drain()
    assert len(world.provider.journal) == share

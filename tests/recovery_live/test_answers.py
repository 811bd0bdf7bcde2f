"""Finish, wait, resend or escalate: for every kind of provider, by what truly happened there."""

import asyncio

import pytest

from ledger.model import Answer, Liveness, Money, Outcome, Refusal, State
from tests.support.fake_provider import ANSWER_LOST, LATE, LOST, NEVER_ARRIVED, Plan
from tests.support.world import DAY, HOUR, SETTLED, FakeWorld, ended

MINUTE = 60.0
NOT_SENT = Plan(acts=False, answer=Answer(Outcome.NOT_SENT, code="connect_failed"))
REFUSED = Plan(acts=False, answer=Answer(Outcome.REFUSED, Refusal.FINAL, code="no"))
SAVED_REFUSAL = Plan(
    acts=False, answer=Answer(Outcome.REFUSED, Refusal.FINAL, key_verdict=True, code="no")
)
THIRTY = Money(3000, "eur")


def amount_for(kind: str) -> int | None:
    """What a kind moves."""
    return None if kind == "fake.target" else 3000


@pytest.mark.parametrize(
    ("kind", "sends", "asked"),
    [
        ("fake.keyed", 1, ()),
        ("fake.key_only", 2, ()),  # the same key is the only look-up
        ("fake.look_up", 1, ()),
        ("fake.tolerable", 1, ()),
        ("fake.target", 1, ()),
        ("fake.mail", 1, ("NO_PROOF",)),
    ],
)
async def test_an_effect_whose_answer_was_lost_is_found(
    world: FakeWorld, kind: str, sends: int, asked: tuple[str, ...]
) -> None:
    """Finish, where anything can tell; one true effect in every case."""
    world.provider.plan("ch_1", ANSWER_LOST)
    operation = await world.one(kind, amount_minor=amount_for(kind))
    me = await world.worker()
    await world.live(HOUR / 2, me)
    assert len(world.provider.journal) == 1
    assert len(world.provider.requests) == sends
    assert await world.reasons(operation) == asked
    assert (await world.read(operation)).state is (State.SENT if asked else State.CONFIRMED)


@pytest.mark.parametrize(
    ("kind", "effects", "asked"),
    [
        ("fake.keyed", 1, ()),
        ("fake.key_only", 1, ()),
        ("fake.look_up", 0, ("NO_PROOF",)),
        ("fake.tolerable", 1, ()),
        ("fake.target", 1, ()),
        ("fake.mail", 0, ("NO_PROOF",)),
    ],
)
async def test_what_never_arrived_is_sent_again_only_after_it_has_settled(
    world: FakeWorld, kind: str, effects: int, asked: tuple[str, ...]
) -> None:
    """Resend where the provider's promises allow it, never before; else a person."""
    world.provider.plan("ch_1", NEVER_ARRIVED)
    operation = await world.one(kind, amount_minor=amount_for(kind))
    me = await world.worker()
    await world.live(SETTLED - 1, me)
    assert len(world.provider.requests) == 1
    assert await world.reasons(operation) == ()
    await world.live(2, me)
    assert len(world.provider.journal) == effects
    assert await world.reasons(operation) == asked
    assert (await world.read(operation)).state is (State.SENT if asked else State.CONFIRMED)
    assert len({sent.request for sent in world.provider.requests}) == 1
    assert len({sent.key for sent in world.provider.requests}) == 1


@pytest.mark.parametrize("kind", ["fake.keyed", "fake.look_up", "fake.tolerable", "fake.target"])
async def test_a_request_that_arrives_late_acts_once(world: FakeWorld, kind: str) -> None:
    """Wait, then finish: it arrives at the last moment of the margin."""
    world.provider.plan("ch_1", LATE)
    operation = await world.one(kind, amount_minor=amount_for(kind))
    me = await world.worker()
    await world.live(SETTLED - 1, me)
    world.provider.flush()
    await world.live(2, me)
    assert (await world.read(operation)).state is State.CONFIRMED
    assert len(world.provider.journal) == len(world.provider.requests) == 1


@pytest.mark.parametrize("kind", ["fake.keyed", "fake.mail", "fake.target"])
async def test_what_is_proven_unsent_is_simply_sent(world: FakeWorld, kind: str) -> None:
    """Even by mail: no byte had left."""
    world.provider.plan("ch_1", NOT_SENT, NOT_SENT)
    operation = await world.one(kind, amount_minor=amount_for(kind))
    me = await world.worker()
    await world.live(2 * MINUTE, me)
    assert (await world.read(operation)).state is State.CONFIRMED
    assert (len(world.provider.journal), len(world.provider.requests)) == (1, 3)


async def test_a_final_refusal_ends_as_failed(world: FakeWorld) -> None:
    """Nothing took effect, and nobody is asked."""
    world.provider.plan("ch_1", REFUSED)
    operation = await world.one()
    me = await world.worker()
    await world.live(DAY, me)
    assert ended(await world.read(operation)) == (State.FAILED, "REJECTED")
    assert (len(world.provider.journal), len(world.provider.requests)) == (0, 1)


async def test_doubt_outlives_an_ordinary_refusal(world: FakeWorld) -> None:
    """The first attempt arrives late; the second one's refusal has cleared nothing."""
    world.provider.plan("ch_1", LATE, REFUSED)
    operation = await world.one()
    me = await world.worker()
    await world.live(SETTLED + 1, me)
    assert (await world.read(operation)).state is State.SENT
    world.provider.flush()
    await world.live(MINUTE * 10, me)
    assert ended(await world.read(operation)) == (State.CONFIRMED, None)
    assert len(world.provider.journal) == 1


async def test_a_refusal_saved_under_the_key_speaks_for_all_attempts(world: FakeWorld) -> None:
    """The key's own answer, inside its window."""
    world.provider.plan("ch_1", NEVER_ARRIVED, SAVED_REFUSAL)
    operation = await world.one()
    me = await world.worker()
    await world.live(SETTLED + MINUTE, me)
    assert ended(await world.read(operation)) == (State.FAILED, "REJECTED")
    assert world.provider.journal == []


@pytest.mark.parametrize("liveness", [Liveness.PENDING, Liveness.REQUIRES_ACTION])
async def test_an_effect_under_way_is_waited_for(world: FakeWorld, liveness: Liveness) -> None:
    """Pending for two days, then it stands; it is never sent again."""
    world.provider.plan("ch_1", Plan(liveness=liveness))
    operation = await world.one()
    me = await world.worker()
    await world.live(2 * DAY, me)
    assert (await world.read(operation)).state is State.SENT
    world.provider.journal[0].liveness = Liveness.SUCCEEDED
    await world.live(6 * HOUR, me)
    assert (await world.read(operation)).state is State.CONFIRMED
    assert len(world.provider.requests) == 1


@pytest.mark.parametrize(
    ("liveness", "reason"),
    [(Liveness.PENDING, "PENDING_STALE"), (Liveness.REQUIRES_ACTION, "CUSTOMER_ACTION")],
)
async def test_an_effect_that_stays_under_way_is_put_before_a_person(
    world: FakeWorld, liveness: Liveness, reason: str
) -> None:
    """After fourteen days, not before; it still ends by itself when the provider answers."""
    world.provider.plan("ch_1", Plan(liveness=liveness))
    operation = await world.one()
    me = await world.worker()
    await world.live(14 * DAY, me)
    assert await world.reasons(operation) == ()
    await world.live(7 * HOUR, me)
    assert await world.reasons(operation) == (reason,)
    world.provider.journal[0].liveness = Liveness.SUCCEEDED
    await world.live(7 * HOUR, me)
    assert (await world.read(operation)).state is State.CONFIRMED
    assert await world.reasons(operation) == ()


async def test_an_effect_that_died_ends_as_failed(world: FakeWorld) -> None:
    """Accepted, then failed at the provider: money came back, nothing is sent again."""
    world.provider.plan("ch_1", Plan(liveness=Liveness.PENDING))
    operation = await world.one()
    me = await world.worker()
    await world.live(MINUTE, me)
    world.provider.journal[0].liveness = Liveness.DEAD
    await world.live(HOUR, me)
    assert ended(await world.read(operation)) == (State.FAILED, "PROVIDER_FAILED")
    assert len(world.provider.requests) == 1


async def test_an_effect_on_a_record_that_knows_no_sending_is_entered(world: FakeWorld) -> None:
    """A lost history: imported as an attempt, then confirmed, and never sent."""
    operation = await world.one()
    done = world.provider.by_hand("ch_1", THIRTY)
    done.marker = world.marker(operation)
    me = await world.worker()
    await world.live(1, me)
    found = await world.read(operation)
    assert (found.state, found.reference) == (State.CONFIRMED, done.reference)
    assert found.attempts[0].answer is not None
    assert found.attempts[0].answer.code == "imported"
    assert world.provider.requests == []


@pytest.mark.parametrize("acts", [False, True])
async def test_a_late_answer_of_a_lost_sender_is_evidence_only(
    world: FakeWorld, *, acts: bool
) -> None:
    """It moves no state and has the operation looked at again; one effect in the end."""
    held = asyncio.Event()
    world.provider.plan("ch_1", Plan(acts=acts, answer=None if acts else LOST, held=held))
    if not acts:
        world.provider.plan("ch_1", NEVER_ARRIVED)
    operation = await world.one()
    zombie, other = await world.worker("zombie"), await world.worker("other")
    await zombie.begin()
    await world.provider.arrived.wait()
    await world.live(2 * MINUTE, other)
    before = await world.read(operation)
    held.set()
    await zombie.passes.drain()
    after = await world.read(operation)
    assert after.state is before.state
    assert after.case_version == before.case_version + 1
    assert after.attempts[0].late
    await world.live(3 * SETTLED, other)
    assert (await world.read(operation)).state is State.CONFIRMED
    assert len(world.provider.journal) == 1

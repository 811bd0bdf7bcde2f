"""A restored backup: what it holds back, what it puts in question, and when it may go on."""

from datetime import timedelta
from typing import Any

import pytest

from ledger.errors import GateStop, Stop
from ledger.model import Money, State
from ledger.postgres.restoring import NotClean
from recovery.case import AttemptClass
from tests.support.world import DAY, HOUR, FakeWorld, ended

THIRTY = Money(3000, "eur")
RELEASE = b"UPDATE restorations SET released_at = ledger_now(), released_by = 'person:ines'"


async def begin(world: FakeWorld, **known: Any) -> int:
    """Somebody says that a backup was restored; the epoch that begins."""
    return await world.ledger.restorations.begin(by="person:ines", reason="a test", **known)


async def released(world: FakeWorld) -> None:
    """Let it go on, whatever stands."""
    async with world.ledger.pool.connection() as connection:
        await connection.execute(RELEASE)


async def test_nothing_leaves_a_restored_backup(world: FakeWorld) -> None:
    """Not even what would do no harm; it goes once a person has released it."""
    await world.one("fake.target", amount_minor=None, valid_s=2 * DAY, resend_s=2 * DAY)
    await begin(world)
    me = await world.worker()
    await world.live(HOUR, me)
    assert world.provider.requests == []
    await released(world)
    await world.live(HOUR, me)
    assert len(world.provider.requests) == 1


async def test_the_gate_itself_refuses(world: FakeWorld) -> None:
    """Whoever judged before the quarantine began is stopped where it counts."""
    await begin(world)
    operation = await world.one(on="ch_2")
    me = await world.worker()
    held = await world.ledger.claim_one(
        operation.id, me.worker, case_version=operation.case_version, lease_s=90
    )
    with pytest.raises(GateStop) as caught:
        await me.dispatcher.dispatch(held)
    assert caught.value.reason is Stop.QUARANTINE
    assert world.provider.requests == []


async def test_what_was_never_sent_as_far_as_is_known_is_in_doubt(world: FakeWorld) -> None:
    """The backup says that nothing left. It can't know: a person is asked, nothing is sent."""
    operation = await world.one()
    await world.later(60)
    await begin(world)
    await released(world)
    me = await world.worker()
    await world.live(HOUR, me)
    assert world.provider.requests == []
    assert (await world.considered(operation))["attempts"] == AttemptClass.AMBIGUOUS
    assert await world.reasons(operation) == ("CREDENTIAL_CHANGED",)


async def test_what_may_not_be_sent_for_the_first_time_any_more_is_asked_about(
    world: FakeWorld,
) -> None:
    """The gate would refuse it as a first send, again and again: a person is asked instead."""
    operation = await world.one("fake.target", amount_minor=None, valid_s=HOUR, resend_s=2 * DAY)
    await begin(world)
    await world.later(2 * HOUR)
    await released(world)
    await world.live(HOUR, await world.worker())
    assert world.provider.requests == []
    assert await world.reasons(operation) == ("AUTH_EXPIRED_INDETERMINATE",)


async def test_what_is_authorized_afterwards_is_sent_as_ever(world: FakeWorld) -> None:
    """Only what the backup held is in question."""
    await begin(world)
    await released(world)
    await world.later(1)
    operation = await world.one(on="ch_2")
    me = await world.worker()
    await world.live(60, me)
    assert ended(await world.read(operation)) == (State.CONFIRMED, None)


async def test_a_lost_sending_is_imported(world: FakeWorld) -> None:
    """Created in the backup, done at the provider: an attempt is entered, and it is confirmed."""
    operation = await world.one()
    world.provider.by_hand("ch_1", THIRTY).marker = world.marker(operation)
    await world.later(1)
    await begin(world)
    me = await world.worker()
    await world.live(HOUR, me)
    assert ended(await world.read(operation)) == (State.CONFIRMED, None)
    found = await world.ledger.restorations.last(settle_s=0)
    assert found is not None
    assert (found.open_before, found.still_open, found.imported) == (1, 0, 1)


async def test_a_final_record_stays_as_it_was(world: FakeWorld) -> None:
    """It is watched as before."""
    operation = await world.one()
    me = await world.worker()
    await world.live(60, me)
    before = await world.read(operation)
    await begin(world)
    assert await world.read(operation) == before


async def test_a_sender_of_the_lost_history_holds_nothing(world: FakeWorld) -> None:
    """Its fence never comes again, and its lease has ended."""
    operation = await world.one()
    me = await world.worker()
    held = await world.ledger.claim_one(
        operation.id, me.worker, case_version=operation.case_version, lease_s=90
    )
    await begin(world)
    found = await world.read(operation)
    assert found.owner is None
    assert found.fence > held.fence + 1_000


async def test_it_begins_once_and_reaches_back_further(world: FakeWorld) -> None:
    """Noticed by a process, then said by a person who knows when the backup was taken."""
    first = await begin(world)
    earlier = await world.ledger.now() - timedelta(days=3)
    assert await begin(world, backup_at=earlier) == first
    found = await world.ledger.restorations.last(settle_s=0)
    assert found is not None
    assert (found.epoch, found.backup_at) == (2, earlier)


async def test_its_epoch_is_beyond_every_epoch_known_outside(world: FakeWorld) -> None:
    """A backup from before an earlier restoration does not repeat that one's epoch."""
    assert await begin(world, outside_epoch=7) == 8


@pytest.mark.parametrize("stands", ["unclear", "unanswered", "unswept"])
async def test_it_is_released_only_when_clean(world: FakeWorld, stands: str) -> None:
    """Each reason is named, and refuses alone."""
    restorations = world.ledger.restorations
    if stands == "unclear":
        await world.one()
    await begin(world)
    behind_s: dict[str, Any] = {"unswept": 1}
    async with world.ledger.pool.connection() as connection:
        await connection.execute(
            "INSERT INTO sweeps (type, account, swept_until)"
            " SELECT 'fake.keyed', 'acct_1', ledger_now() - make_interval(secs => %s)",
            [behind_s.get(stands, 0)],
        )
        if stands == "unanswered":
            await connection.execute(
                "INSERT INTO escalations (id, scope, provider, account, reference, reasons,"
                " opened_at, dossier) VALUES (gen_random_uuid(), 'effect', 'fake', 'acct_1',"
                " 're_1', '{UNRECORDED_EFFECT}', ledger_now(), '{}')"
            )
    told = {
        "unclear": "1 operations are neither clear",
        "unanswered": "1 effects without an operation",
        "unswept": "the sweep of fake.keyed",
    }
    with pytest.raises(NotClean, match=told[stands]) as caught:
        await restorations.release(by="person:ines", settle_s=0)
    assert len(caught.value.reasons) == 1


async def test_a_clean_one_is_released_once(world: FakeWorld) -> None:
    """Who did it is kept."""
    restorations = world.ledger.restorations
    await begin(world)
    async with world.ledger.pool.connection() as connection:
        await connection.execute(
            "INSERT INTO sweeps (type, account, swept_until) SELECT 'f', 'a', ledger_now()"
        )
    await restorations.release(by="person:ines", settle_s=0)
    found = await restorations.last(settle_s=0)
    assert found is not None
    assert found.released_by == "person:ines"
    with pytest.raises(NotClean, match="nothing is in quarantine"):
        await restorations.release(by="person:ines", settle_s=0)


async def test_a_backup_that_is_older_than_was_thought_is_not_released(world: FakeWorld) -> None:
    """Said between the look and the release: the sweeps reach further back now."""
    await begin(world)
    looked = await world.ledger.restorations.last(settle_s=1.0)
    assert looked is not None
    await begin(world, backup_at=looked.backup_at - timedelta(days=2))
    released = await world.ledger.pool.row(
        "restoration_release", by="person:bo", epoch=looked.epoch, backup_at=looked.backup_at
    )
    assert released is None
    held = await world.ledger.restorations.last(settle_s=1.0)
    assert held is not None
    assert held.released_at is None

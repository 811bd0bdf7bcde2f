"""What worlds have found, each kept as a small story of its own: draws change, stories stay."""

from dataclasses import replace
from typing import Any

import psycopg
import pytest

from dispatcher.dispatch import Dispatched
from dispatcher.provider import Trouble
from ledger.errors import DatabaseUnreachable
from ledger.model import Answer, Operation, Outcome, Refusal, State
from ledger.policy import ASK_ALWAYS
from ledger.postgres import ledger as ledger_module
from ledger.postgres.connect import Database
from ledger.postgres.ledger import Ledger
from recovery.limits import Limits
from tests.simulation.bounds import spoilt
from tests.support.bureau import SMALL, Bureau, refund
from tests.support.fake_provider import ANSWER_LOST, NEVER_ARRIVED, Plan
from tests.support.hands import Hands
from tests.support.world import DAY, HOUR, SETTLED, FakeWorld, fake_world


def stand_still(
    monkeypatch: pytest.MonkeyPatch, me: Hands, world: FakeWorld, for_s: float, **changes: str
) -> None:
    """Have a worker stand still once between its decision and the gate, as by SIGSTOP."""
    dispatch = me.dispatcher.dispatch
    stood: list[float] = []

    async def later(held: Operation, **how: Any) -> Dispatched:
        if not stood:
            stood.append(for_s)
            await world.later(for_s)
            for name, value in changes.items():
                setattr(world.provider, name, value)
        return await dispatch(held, **how)

    monkeypatch.setattr(me.dispatcher, "dispatch", later)


async def test_a_decision_does_not_outlive_its_lease(
    world: FakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The only worker stands still for a day after deciding to repeat: the key is forgotten."""
    world.provider.plan("ch_1", ANSWER_LOST)
    operation = await world.one("fake.key_only", resend_s=3 * DAY)
    me = await world.worker()
    await me.step()
    await world.later(SETTLED + 1)
    stand_still(monkeypatch, me, world, 25 * HOUR)
    await world.live(26 * HOUR, me)
    assert len(world.provider.effects_of(operation)) == 1
    assert await world.reasons(operation) == ("WINDOW_EXPIRED",)


async def test_a_decision_holds_for_the_credential_that_it_was_made_with(
    world: FakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The credential is changed between decision and gate: the key may be unknown under it."""
    world.provider.plan("ch_1", ANSWER_LOST)
    operation = await world.one("fake.key_only")
    me = await world.worker()
    await me.step()
    await world.later(SETTLED + 1)
    stand_still(monkeypatch, me, world, 1, credential="cred-2")
    await world.live(HOUR, me)
    assert len(world.provider.requests) == 1
    assert await world.reasons(operation) == ("CREDENTIAL_CHANGED",)


async def test_what_can_never_be_looked_at_is_not_watched_for_ever(world: FakeWorld) -> None:
    """A refused mail: every hour a look that sees nothing, and two more events in its history."""
    refused = Answer(Outcome.REFUSED, Refusal.FINAL, code="no_such_mailbox")
    world.provider.plan("ch_1", Plan(acts=False, answer=refused))
    operation = await world.one("fake.mail")
    me = await world.worker()
    await world.live(40 * DAY, me)
    ended = await world.read(operation)
    assert (ended.state, ended.next_check_at) == (State.FAILED, None)
    assert world.provider.looks < 10


async def test_a_ledger_that_loses_its_server_while_opening_says_so(
    ledger_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection is lost between the sign-in and the first check."""

    async def lost(_: object) -> None:
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(ledger_module, "check_server", lost)
    with pytest.raises(DatabaseUnreachable):
        await Ledger(Database(ledger_dsn)).__aenter__()


async def test_the_same_request_in_two_processes_is_one_proposal(
    bureau: Bureau, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One process puts it before a person while another one, a moment behind, would let it go."""
    bureau.policy.policy = ASK_ALWAYS
    first = await bureau.propose([refund(1, 500)])
    bureau.policy.policy = SMALL
    known = bureau.ledger.proposals.known
    asked: list[str] = []

    async def a_moment_ago(*told: str) -> Any:
        asked.append("")
        return None if len(asked) == 1 else await known(*told)

    async def nothing_alike(_: object) -> Any:
        return {}, False

    monkeypatch.setattr(bureau.ledger.proposals, "known", a_moment_ago)
    monkeypatch.setattr(bureau.ledger.proposals, "repeats", nothing_alike)
    second = await bureau.propose([refund(1, 500)])
    assert (second.proposal_id, second.repeated, second.authorized) == (
        first.proposal_id,
        True,
        False,
    )


async def test_what_a_cap_holds_back_does_not_hold_the_canary(ledger_dsn: str) -> None:
    """One that no hour's cap allows went first after an outage, again and again, and never went."""
    limits = Limits(resent_minor_per_hour=7_000, canary_s=HOUR)
    async with fake_world(ledger_dsn, limits=limits) as world:
        for on in ("ch_huge", "ch_small"):
            world.provider.plan(on, NEVER_ARRIVED)
        huge = await world.one(on="ch_huge", amount_minor=7_001)
        small = await world.one(on="ch_small", amount_minor=3_000)
        me = await world.worker()
        await me.step()
        world.provider.look = replace(world.provider.look, trouble=Trouble.UNREACHABLE)
        await world.live(SETTLED + 60, me)
        world.provider.look = replace(world.provider.look, trouble=None)
        await world.live(3 * HOUR, me)
        assert (await world.read(huge)).decision == "NOT_YET_CAP"
        assert (await world.read(small)).state is State.CONFIRMED


async def test_what_no_money_allows_does_not_use_up_the_number(ledger_dsn: str) -> None:
    """It is tried every few minutes; each try was counted against what others may do."""
    limits = Limits(resends_per_hour=3, resent_minor_per_hour=7_000)
    async with fake_world(ledger_dsn, limits=limits) as world:
        now = await world.ledger.now()
        await world.later(HOUR - now.timestamp() % HOUR)
        for on in ("ch_huge", "ch_small"):
            world.provider.plan(on, NEVER_ARRIVED)
        huge = await world.one(on="ch_huge", amount_minor=7_001)
        me = await world.worker()
        await world.live(HOUR / 2, me)
        small = await world.one(on="ch_small", amount_minor=3_000)
        await world.live(HOUR / 3, me)
        assert (await world.read(huge)).decision == "NOT_YET_CAP"
        assert (await world.read(small)).state is State.CONFIRMED


async def test_what_was_proposed_before_a_restored_backup_may_have_been_sent(
    bureau: Bureau,
) -> None:
    """The lost history held an approval too: approved once more, the mail left a second time."""
    bureau.policy.policy = ASK_ALWAYS
    made = await bureau.propose([refund(1, 500)], kind="fake.look_up")
    await bureau.later(60)
    await bureau.ledger.restorations.begin(by="person:ines", reason="a backup was put back")
    await bureau.later(60)
    await bureau.approve(made.proposal_id)
    async with bureau.ledger.pool.connection() as connection:
        await connection.execute(b"UPDATE restorations SET released_at = ledger_now()")
    await bureau.live(HOUR, await bureau.worker())
    [operation_id] = made.operation_ids
    assert bureau.provider.requests == []
    assert await bureau.reasons(await bureau.ledger.operation(operation_id)) == ("NO_PROOF",)


def test_a_question_is_not_needless_where_its_own_look_up_was_spoilt() -> None:
    """Two look-ups said that the target is not there, fifteen hours apart, and both were wrong."""
    looks = [(60.0, False), (5_479.0, True), (57_198.0, True)]
    assert spoilt(looks, 57_198.0)
    assert not spoilt(looks, 100.0)
    assert not spoilt([], 100.0)

"""What worlds have found, each kept as a small story of its own; and the seeds that showed it."""

from collections.abc import Iterator
from typing import Any, Final

import psycopg
import pytest

from dispatcher.dispatch import Dispatched
from ledger.errors import DatabaseUnreachable
from ledger.model import Answer, Operation, Outcome, Refusal, State
from ledger.policy import ASK_ALWAYS
from ledger.postgres import ledger as ledger_module
from ledger.postgres.connect import Database
from ledger.postgres.ledger import Ledger
from tests.simulation.judge import judge
from tests.simulation.server import Server, server_at
from tests.simulation.world import play
from tests.support.bureau import SMALL, Bureau, refund
from tests.support.fake_provider import ANSWER_LOST, Plan
from tests.support.hands import Hands
from tests.support.world import DAY, HOUR, SETTLED, FakeWorld

SEEDS: Final = (10_641, 10_803, 10_936)
"""Worlds in which something was wrong once."""


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


@pytest.fixture(scope="module")
def server(pg_server: str) -> Iterator[Server]:
    """One database for these worlds."""
    with server_at(pg_server) as made:
        yield made


@pytest.mark.parametrize("seed", SEEDS)
def test_a_world_that_was_wrong_once_is_right(server: Server, seed: int) -> None:
    """As long as the simulation draws the same from its seed."""
    assert judge(play(seed, server)).violations == []

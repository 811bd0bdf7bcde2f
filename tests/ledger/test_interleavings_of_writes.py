"""The other writes that wait: authorizing, answering and deciding go by what came before them."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from ledger.canonical import digest
from ledger.commands import NewAuthorization, Worker
from ledger.errors import KeyReused, LookAlike, StaleCase, StaleFence
from ledger.ids import new_id
from ledger.model import Outcome, State
from ledger.postgres.attempt_writes import RecordAnswer, RecordItem
from ledger.postgres.authorization_writes import Authorize, AuthorizeItem, Verdict
from ledger.postgres.clock import advance, mark_test_database, set_clock
from ledger.postgres.decision_writes import ApplyDecision, DecisionItem
from ledger.postgres.ledger import Ledger
from tests.support.ledgers import LEASE_S, authorized, new_operation, worker
from tests.support.waiting import holding
from tests.support.writes import (
    claim_by_another,
    decision,
    history,
    learn_something,
    recording,
    sent,
)


@pytest.fixture
def me() -> Worker:
    """The worker that writes."""
    return worker("me")


async def wanted(ledger: Ledger, *, body: object = None) -> NewAuthorization:
    """A request under the key `k`, for a minute."""
    now = await ledger.now()
    return NewAuthorization(
        proposal_id=new_id(),
        authorization_id=new_id(),
        type="stripe.refund",
        type_version=1,
        requested_by="tests",
        request_key="k",
        input_digest=digest(body),
        decided_by="person:amaia",
        reason="test",
        authorized_until=now + timedelta(minutes=1),
        resend_until=now + timedelta(hours=23),
        operations=[new_operation("ch_1")],
    )


async def test_a_request_repeated_while_the_first_commits_finds_it(
    ledger: Ledger, ledger_dsn: str
) -> None:
    """It waits for the target's turn, and is the same request, not a look-alike of itself."""
    first, again = await wanted(ledger), await wanted(ledger)
    async with holding(ledger_dsn) as holder:
        [judged] = await Authorize().run(holder.connection, [AuthorizeItem.of(first)])
        assert judged.verdict is Verdict.NEW
        repeat = asyncio.create_task(ledger.authorize(again))
        await holder.until_waiting()
    known = await repeat
    assert known.repeated
    assert known.operation_ids == (first.operations[0].id,)


async def test_a_look_alike_waits_for_the_first_and_sees_it(
    ledger: Ledger, ledger_dsn: str
) -> None:
    """Two agents on one target take turns, so that the later one is asked about the earlier."""
    first, other = await wanted(ledger), replace(await wanted(ledger), request_key="other")
    async with holding(ledger_dsn) as holder:
        await Authorize().run(holder.connection, [AuthorizeItem.of(first)])
        later = asyncio.create_task(ledger.authorize(other))
        await holder.until_waiting()
    with pytest.raises(LookAlike) as caught:
        await later
    assert caught.value.older == {1: (first.operations[0].id,)}


async def test_a_key_reused_while_the_first_commits_is_refused(
    ledger: Ledger, ledger_dsn: str
) -> None:
    """Another body under the key of a request that is being written."""
    first, other = await wanted(ledger), await wanted(ledger, body="another")
    async with holding(ledger_dsn) as holder:
        await Authorize().run(holder.connection, [AuthorizeItem.of(first)])
        repeat = asyncio.create_task(ledger.authorize(other))
        await holder.until_waiting()
    with pytest.raises(KeyReused):
        await repeat


async def test_a_repeat_that_waits_past_its_time_is_still_a_repeat(
    ledger: Ledger, ledger_dsn: str
) -> None:
    """The time of an authorization matters to a new one only."""
    async with ledger.pool.connection() as connection:
        await mark_test_database(connection)
        await set_clock(connection, await ledger.now())
    first, again = await wanted(ledger), await wanted(ledger)
    async with holding(ledger_dsn) as holder:
        await Authorize().run(holder.connection, [AuthorizeItem.of(first)])
        repeat = asyncio.create_task(ledger.authorize(again))
        await holder.until_waiting()
        await advance(holder.watcher, 120)
    assert (await repeat).repeated


async def test_an_answer_that_waits_for_a_takeover_comes_late(
    ledger: Ledger, ledger_dsn: str, me: Worker
) -> None:
    """It is kept on its attempt, and its sender is told."""
    [held] = await sent(ledger, by=me)
    async with holding(ledger_dsn, held.id) as holder:
        recorder = asyncio.create_task(ledger.record_answer(recording(held), actor=me.name))
        await holder.until_waiting()
        await claim_by_another(holder.connection)
    with pytest.raises(StaleFence):
        await recorder
    seen = await ledger.operation(held.id)
    assert (seen.state, seen.attempts[0].late) == (State.SENT, True)
    assert seen.attempts[0].outcome is Outcome.ACCEPTED


async def test_an_answer_that_waits_for_itself_is_told_how_it_was_taken(
    ledger: Ledger, ledger_dsn: str, me: Worker
) -> None:
    """A repeat of a recording whose first run had not committed yet."""
    [held] = await sent(ledger, by=me)
    async with holding(ledger_dsn, held.id) as holder:
        await RecordAnswer().run(holder.connection, [RecordItem.of(recording(held), me.name)])
        recorder = asyncio.create_task(ledger.record_answer(recording(held), actor=me.name))
        await holder.until_waiting()
    assert (await recorder).held
    assert (await history(ledger, held.id)).count("answered") == 1


async def test_a_decision_that_waits_for_news_is_stale(
    ledger: Ledger, ledger_dsn: str, me: Worker
) -> None:
    """A late answer or a webhook came first: decide again."""
    [held] = await sent(ledger, by=me)
    async with holding(ledger_dsn, held.id) as holder:
        decider = asyncio.create_task(ledger.apply_decision(decision(held), actor=me.name))
        await holder.until_waiting()
        await learn_something(holder.connection, held)
    with pytest.raises(StaleCase):
        await decider
    assert (await ledger.operation(held.id)).state is State.SENT


async def test_a_decision_that_waits_for_itself_is_written_once(
    ledger: Ledger, ledger_dsn: str, me: Worker
) -> None:
    """The first run gave the operation back, and with it the right to decide."""
    [held] = await sent(ledger, by=me)
    async with holding(ledger_dsn, held.id) as holder:
        await ApplyDecision().run(holder.connection, [DecisionItem.of(decision(held), me.name)])
        decider = asyncio.create_task(ledger.apply_decision(decision(held), actor=me.name))
        await holder.until_waiting()
    with pytest.raises(StaleFence):
        await decider
    assert (await history(ledger, held.id)).count("decided") == 1


async def test_a_claim_lost_before_it_is_read_is_not_returned(
    ledger: Ledger, ledger_dsn: str, me: Worker
) -> None:
    """A worker that stalls between claiming and reading must not pick up another's fence."""
    await authorized(ledger)
    async with holding(ledger_dsn) as holder:
        await holder.connection.execute("LOCK TABLE authorizations")  # the reading waits here
        claimer = asyncio.create_task(ledger.claim(me, share=1, lease_s=LEASE_S))
        await holder.until_waiting()
        await claim_by_another(holder.connection)
    assert await claimer == []

"""Many at once, on real connections: each thing happens once, and everybody is told the truth."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import replace

import psycopg
import pytest

from ledger.commands import Authorized
from ledger.errors import GateStop, LookAlike, StaleFence, Stop
from ledger.model import Answer, Outcome, State
from ledger.postgres.ledger import Ledger
from tests.support.ledgers import (
    LEASE_S,
    authorize,
    authorized,
    ledger_at,
    new_operation,
    sending,
    worker,
)
from tests.support.writes import decision, due, everything, history, query, recording, sent

MANY = 20


@pytest.fixture
async def ledgers(ledger_dsn: str) -> AsyncGenerator[list[Ledger]]:
    """The ledgers of as many processes, on one database."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(ledger_at(ledger_dsn)) for _ in range(MANY)]


async def test_twenty_workers_claim_each_operation_once(ledgers: list[Ledger]) -> None:
    """All claim the same due operations at once; every fence rises by one."""
    made = await authorized(ledgers[0], *(new_operation(f"ch_{i}") for i in range(200)))
    claims = await asyncio.gather(
        *(each.claim(worker(f"w{i}"), share=50, lease_s=LEASE_S) for i, each in enumerate(ledgers))
    )
    claimed = [operation for claim in claims for operation in claim]
    while rest := await ledgers[0].claim(worker("rest"), share=50, lease_s=LEASE_S):
        claimed += rest
    assert sorted(operation.id for operation in claimed) == sorted(made_.id for made_ in made)
    assert {operation.fence for operation in claimed} == {1}
    assert await ledgers[1].claim(worker("late"), share=50, lease_s=LEASE_S) == []


async def test_a_worker_that_lost_its_claim_cannot_write(ledger: Ledger) -> None:
    """Neither a send, nor an answer, nor a decision under an old fence moves anything."""
    me, other = worker("me"), worker("other")
    await authorized(ledger, new_operation("ch_1"))
    [mine] = await ledger.claim(me, share=1, lease_s=-1)
    [theirs] = await ledger.claim(other, share=1, lease_s=LEASE_S)
    before = await everything(ledger)
    with pytest.raises(GateStop) as caught:
        await ledger.begin_attempt(sending(mine, me))
    assert caught.value.reason is Stop.STALE_FENCE
    with pytest.raises(StaleFence):
        await ledger.apply_decision(decision(mine, state=State.FAILED), actor=me.name)
    assert await everything(ledger) == before
    await ledger.begin_attempt(sending(theirs, other))


async def test_a_zombies_answer_is_kept_and_moves_nothing(ledger: Ledger) -> None:
    """Case 3: a stopped sender wakes up after the takeover, even after the end of the story."""
    me, other = worker("me"), worker("other")
    [mine] = await sent(ledger, "ch_1", by=me)
    await ledger.release([mine], check_s=-1)
    [theirs] = await ledger.claim(other, share=1, lease_s=LEASE_S)
    await ledger.apply_decision(decision(theirs), actor=other.name)
    with pytest.raises(StaleFence):
        await ledger.record_answer(
            recording(mine, Answer(Outcome.REFUSED), state=State.FAILED), actor=me.name
        )
    seen = await ledger.operation(mine.id)
    assert (seen.state, seen.case_version) == (State.CONFIRMED, mine.case_version + 1)
    assert (seen.attempts[0].outcome, seen.attempts[0].late) == (Outcome.REFUSED, True)
    assert (await history(ledger, mine.id))[-1] == "answered_late"


async def test_one_request_key_at_once_is_one_proposal(ledgers: list[Ledger]) -> None:
    """Twenty processes repeat a request at the same time: all get the same operations."""
    results = await asyncio.gather(
        *(
            authorize(each, *(new_operation(f"ch_{i}") for i in range(5)), key="same")
            for each in ledgers
        )
    )
    assert len({result.operation_ids for result in results}) == 1
    assert [result.repeated for result in results].count(False) == 1
    [counted] = await query(
        ledgers[0],
        "SELECT (SELECT count(*) FROM proposals) AS proposals,"
        " (SELECT count(*) FROM operations) AS operations",
    )
    assert (counted["proposals"], counted["operations"]) == (1, 5)


async def test_of_look_alikes_at_once_one_gets_in(ledgers: list[Ledger]) -> None:
    """Twenty agents refund one charge under keys of their own: a person is asked about 19."""
    results = await asyncio.gather(
        *(authorize(each, new_operation("ch_1")) for each in ledgers), return_exceptions=True
    )
    made = [result for result in results if isinstance(result, Authorized)]
    refused = [result for result in results if isinstance(result, LookAlike)]
    assert (len(made), len(refused)) == (1, MANY - 1)
    assert {ids for each in refused for ids in each.older.values()} == {made[0].operation_ids}


async def test_on_one_target_one_is_sent_across_processes(ledgers: list[Ledger]) -> None:
    """Twenty operations on one charge, each begun over another connection."""
    for _ in range(MANY):
        await authorize(ledgers[0], new_operation("ch_1", separate=True))
    me = worker()
    held = await ledgers[0].claim(me, share=MANY, lease_s=LEASE_S)
    results = await asyncio.gather(
        *(
            each.begin_attempt(sending(operation, me))
            for each, operation in zip(ledgers, held, strict=True)
        ),
        return_exceptions=True,
    )
    stops = [result.reason for result in results if isinstance(result, GateStop)]
    assert stops == [Stop.TARGET_BUSY] * (MANY - 1)


async def test_on_one_target_one_is_sent_within_a_process(ledger: Ledger) -> None:
    """The same through one writer, whose batches hold what fits together."""
    for _ in range(MANY):
        await authorize(ledger, new_operation("ch_1", separate=True))
    me = worker()
    held = await ledger.claim(me, share=MANY, lease_s=LEASE_S)
    results = await asyncio.gather(
        *(ledger.begin_attempt(sending(operation, me)) for operation in held),
        return_exceptions=True,
    )
    stops = [result.reason for result in results if isinstance(result, GateStop)]
    assert stops == [Stop.TARGET_BUSY] * (MANY - 1)


async def test_a_send_begun_twice_at_once_leaves_once(ledgers: list[Ledger]) -> None:
    """One claim, presented by twenty connections: one attempt."""
    me = worker()
    [held] = await due(ledgers[0], by=me)
    results = await asyncio.gather(
        *(each.begin_attempt(sending(held, me)) for each in ledgers), return_exceptions=True
    )
    stops = [result.reason for result in results if isinstance(result, GateStop)]
    assert stops == [Stop.NOT_SETTLED] * (MANY - 1)
    assert len((await ledgers[0].operation(held.id)).attempts) == 1


async def test_an_answer_recorded_many_times_at_once_is_told_once(ledgers: list[Ledger]) -> None:
    """Repeats of one recording find it done, and are told how it was taken."""
    me = worker()
    [held] = await sent(ledgers[0], by=me)
    results = await asyncio.gather(
        *(each.record_answer(recording(held), actor=me.name) for each in ledgers)
    )
    assert {result.held for result in results} == {True}
    assert (await history(ledgers[0], held.id)).count("answered") == 1


async def test_a_revocation_names_what_it_stopped_and_what_had_left(ledger: Ledger) -> None:
    """What had ended before without ever leaving is neither."""
    me = worker()
    ended, left, waiting = await due(ledger, "ch_1", "ch_2", "ch_3", by=me)
    await ledger.apply_decision(decision(ended, state=State.FAILED), actor=me.name)
    await ledger.begin_attempt(sending(left, me))
    revocation = await ledger.revoke(ended.authorization.id, by="person:amaia", reason="test")
    assert (revocation.stopped, revocation.had_left) == ((waiting.id,), (left.id,))


async def test_an_idempotency_key_is_used_once(ledger: Ledger) -> None:
    """The key is the operation's id: under another request the same one is refused, whole."""
    new = new_operation("ch_1")
    await authorize(ledger, new)
    before = await everything(ledger)
    with pytest.raises(psycopg.errors.UniqueViolation):
        await authorize(ledger, new_operation("ch_2"), replace(new, separate=True))
    assert await everything(ledger) == before

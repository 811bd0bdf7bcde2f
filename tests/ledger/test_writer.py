"""The group-commit writer: many writes in one commit, and each one's failure its own."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from uuid import uuid4

import psycopg
import pytest

from ledger.canonical import digest_of_bytes
from ledger.errors import DatabaseUnreachable, GateStop, StaleFence, Stop
from ledger.ids import new_id
from ledger.model import Answer, Attempt, Outcome, State
from ledger.postgres import writer as writer_module
from ledger.postgres.attempt_writes import BeginAttempt, BeginItem
from ledger.postgres.connect import Connection, Database
from ledger.postgres.ledger import Ledger
from ledger.postgres.writer import GroupWriter
from tests.support.ledgers import authorize, ledger_at, new_operation, sending, worker
from tests.support.proxy import Loss, proxied
from tests.support.waiting import commits_held, holding
from tests.support.writes import decision, due, everything, history, query, recording, sent


async def test_many_writes_share_a_commit(ledger: Ledger) -> None:
    """A hundred sends at once take a few transactions, and each is answered with its own."""
    me = worker()
    held = await due(ledger, *(f"ch_{i}" for i in range(100)), by=me)
    attempts = await asyncio.gather(*(ledger.begin_attempt(sending(each, me)) for each in held))
    [row] = await query(
        ledger, "SELECT count(DISTINCT xid) AS commits FROM events WHERE kind = 'sent'"
    )
    assert row["commits"] <= 10
    for operation, attempt in zip(held, attempts, strict=True):
        assert (await ledger.operation(operation.id)).attempts == (attempt,)


async def test_a_stale_item_fails_alone(ledger: Ledger) -> None:
    """Its neighbours in the batch are sent."""
    me = worker()
    held = await due(ledger, *(f"ch_{i}" for i in range(5)), by=me)
    await query(ledger, "UPDATE operations SET fence = 9 WHERE id = %s", held[2].id)
    results = await asyncio.gather(
        *(ledger.begin_attempt(sending(each, me)) for each in held), return_exceptions=True
    )
    stale = results.pop(2)
    assert isinstance(stale, GateStop)
    assert stale.reason is Stop.STALE_FENCE
    assert all(isinstance(result, Attempt) for result in results)


async def test_a_malformed_item_fails_alone(ledger: Ledger) -> None:
    """A value that PostgreSQL can't hold undoes the batch; its items are then run singly."""
    me = worker()
    held = await sent(ledger, *(f"ch_{i}" for i in range(5)), by=me)
    answers = [Answer(Outcome.ACCEPTED, reference=f"re_{i}") for i in range(5)]
    answers[2] = Answer(Outcome.ACCEPTED, skew_s=float("nan"))
    results = await asyncio.gather(
        *(
            ledger.record_answer(recording(each, answer), actor=me.name)
            for each, answer in zip(held, answers, strict=True)
        ),
        return_exceptions=True,
    )
    assert [isinstance(result, psycopg.DataError) for result in results] == [
        index == 2 for index in range(5)
    ]
    states = [(await ledger.operation(each.id)).state for each in held]
    assert states == [State.SENT if i == 2 else State.CONFIRMED for i in range(5)]


async def test_a_write_to_nothing_fails_alone(ledger: Ledger) -> None:
    """An attempt that was never begun: its neighbours get their own results, and it a refusal."""
    me = worker()
    nothing, held = await sent(ledger, "ch_1", "ch_2", by=me)
    unknown = replace(nothing, id=new_id())
    results = await asyncio.gather(
        ledger.record_answer(recording(nothing, number=7), actor=me.name),
        ledger.record_answer(recording(unknown), actor=me.name),
        ledger.record_answer(recording(held), actor=me.name),
        return_exceptions=True,
    )
    assert isinstance(results[0], StaleFence)
    assert isinstance(results[1], StaleFence)
    assert not isinstance(results[2], BaseException)
    assert results[2].held
    assert (await ledger.operation(nothing.id)).state is State.SENT


async def test_a_decision_on_nothing_fails_alone(ledger: Ledger) -> None:
    """An operation of another ledger."""
    me = worker()
    [held] = await sent(ledger, by=me)
    stranger = replace(held, id=new_id())
    results = await asyncio.gather(
        ledger.apply_decision(decision(stranger), actor=me.name),
        ledger.apply_decision(decision(held), actor=me.name),
        return_exceptions=True,
    )
    assert isinstance(results[0], StaleFence)
    assert results[1] is None


async def test_a_deadlock_is_broken_and_run_again(ledger_dsn: str) -> None:
    """The batch holds A and B and wants C; who holds C wants A. The batch is the victim."""
    with psycopg.connect(ledger_dsn, autocommit=True) as admin:
        name = admin.info.dbname
        admin.execute(f'ALTER DATABASE "{name}" SET deadlock_timeout = 20'.encode())
    me = worker()
    async with ledger_at(ledger_dsn) as ledger:
        a, b, c = await due(ledger, "ch_a", "ch_b", "ch_c", by=me)
        async with holding(ledger_dsn, b.id) as middle, holding(ledger_dsn, c.id) as other:
            await other.connection.execute("SET LOCAL deadlock_timeout = '1min'")
            batch = asyncio.gather(*(ledger.begin_attempt(sending(each, me)) for each in (a, b, c)))
            await middle.until_waiting(1)
            circle = asyncio.create_task(
                other.connection.execute("SELECT FROM operations WHERE id = %s FOR UPDATE", [a.id])
            )
            await middle.until_waiting(2)
            await middle.connection.execute("COMMIT")
            await circle
        assert [attempt.number for attempt in await batch] == [1, 1, 1]
        for each in (a, b, c):
            assert (await history(ledger, each.id)).count("sent") == 1


async def test_nobody_is_answered_before_the_commit(ledger: Ledger, ledger_dsn: str) -> None:
    """While the commit is under way the caller waits, and nobody else sees the row."""
    me = worker()
    [held] = await due(ledger, by=me)
    async with commits_held(ledger_dsn) as holder:
        sender = asyncio.create_task(ledger.begin_attempt(sending(held, me)))
        await holder.until_waiting()
        assert not sender.done()
        assert (await ledger.operation(held.id)).state is State.CREATED
    await sender
    assert (await ledger.operation(held.id)).state is State.SENT


async def test_a_cancelled_caller_does_not_undo_its_write(ledger: Ledger, ledger_dsn: str) -> None:
    """Whoever reads it later finds it whole; the writer goes on."""
    me = worker()
    cancelled, other = await due(ledger, "ch_1", "ch_2", by=me)
    async with holding(ledger_dsn, cancelled.id) as holder:
        caller = asyncio.create_task(ledger.begin_attempt(sending(cancelled, me)))
        await holder.until_waiting()
        caller.cancel()
        with pytest.raises(asyncio.CancelledError):
            await caller
    await ledger.begin_attempt(sending(other, me))
    with pytest.raises(GateStop):  # waits for the row, and finds the attempt
        await ledger.begin_attempt(sending(cancelled, me))
    assert len((await ledger.operation(cancelled.id)).attempts) == 1


async def test_closing_writes_what_waits(ledger: Ledger, ledger_dsn: str) -> None:
    """Whoever handed in a write before gets its answer; later ones are refused."""
    me = worker()
    held = await due(ledger, *(f"ch_{i}" for i in range(40)), by=me)
    writer, kind = GroupWriter(Database(ledger_dsn)), BeginAttempt()
    writer.start()
    async with holding(ledger_dsn, held[0].id) as holder:
        writes = [
            asyncio.create_task(writer.write(kind, BeginItem.of(sending(each, me))))
            for each in held
        ]
        await holder.until_waiting()
        closing = asyncio.create_task(writer.close())
        await asyncio.sleep(0)
        with pytest.raises(DatabaseUnreachable):
            await writer.write(kind, BeginItem.of(sending(held[0], me)))
        assert not closing.done()
    await closing
    assert all(isinstance(result, Attempt) for result in await asyncio.gather(*writes))


async def test_when_the_server_stays_away_all_are_told_together(
    ledger_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forty writes do not take forty times one write's patience."""
    monkeypatch.setattr(writer_module, "_RECONNECT_PAUSES_S", (0.1, 0.1, 0.1))
    async with proxied(ledger_dsn) as (proxy, address), ledger_at(address) as ledger:
        me = worker()
        held = await due(ledger, *(f"ch_{i}" for i in range(40)), by=me)
        before = await everything(ledger)
        await proxy.close()
        async with asyncio.timeout(5):
            results = await asyncio.gather(
                *(ledger.begin_attempt(sending(each, me)) for each in held),
                return_exceptions=True,
            )
        assert all(isinstance(result, DatabaseUnreachable) for result in results)
    async with ledger_at(ledger_dsn) as ledger:
        assert await everything(ledger) == before


class Faulty:
    """A kind of write with a bug in its look-up."""

    name = "faulty"

    def keys(self, item: str) -> frozenset[str]:
        """Itself."""
        return frozenset({item})

    async def run(self, connection: Connection, items: Sequence[str]) -> Sequence[str]:
        """Answer without the server."""
        await connection.execute("SELECT %s::int", [1])
        return items

    async def stands(self, connection: Connection, item: str) -> str | None:
        """Fail in a way that nobody foresaw."""
        raise LookupError(item, connection.closed)


async def test_a_fault_of_one_kind_does_not_stop_the_writer(ledger_dsn: str) -> None:
    """It is its caller's; the next write is written."""
    async with proxied(ledger_dsn) as (proxy, address):
        writer = GroupWriter(Database(address, writers=1))
        writer.start()
        kind = Faulty()
        assert await writer.write(kind, "warm") == "warm"
        proxy.loss = Loss.ANSWER
        with pytest.raises(LookupError):
            await writer.write(kind, "lost")
        assert await writer.write(kind, "next") == "next"
        await writer.close()


async def test_digests_are_of_the_bytes_that_were_stored(ledger: Ledger) -> None:
    """What is read back is what was authorized, byte for byte."""
    new = new_operation(f"ch_{uuid4()}")
    made = await authorize(ledger, new)
    read = await ledger.operation(made.operation_ids[0])
    assert read.request == new.request
    assert digest_of_bytes(read.request) == read.request_digest


async def test_text_that_postgresql_cannot_hold_is_kept_as_far_as_it_can(ledger: Ledger) -> None:
    """A provider's NUL or lone surrogate must not keep an answer from being recorded."""
    me = worker()
    [held] = await sent(ledger, "ch_1", by=me)
    answer = Answer(Outcome.ACCEPTED, reference="re_1", detail="a NUL \x00, a half \ud800")
    await ledger.record_answer(recording(held, answer), actor=me.name)
    [attempt] = (await ledger.operation(held.id)).attempts
    assert attempt.answer is not None
    assert attempt.answer.detail == "a NUL \ufffd, a half ?"

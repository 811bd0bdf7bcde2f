"""Case 5: the connection is lost before, inside and after the commit, once for each write.

Whatever was lost, the caller gets the true result, and nothing is written twice.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Final

import pytest

from ledger.commands import Authorized, Worker
from ledger.model import Answer, Attempt, Operation, Outcome, State
from ledger.postgres.attempt_writes import Recorded
from ledger.postgres.clock import mark_test_database, set_clock
from ledger.postgres.ledger import Ledger
from tests.support.ledgers import (
    LEASE_S,
    authorize,
    ledger_at,
    new_operation,
    sending,
    worker,
)
from tests.support.proxy import Loss, Proxy, proxied
from tests.support.waiting import commits_held, holding
from tests.support.writes import decision, due, history, query, recording, sent

Prepared = tuple[Operation | None, Callable[[], Awaitable[object]]]
Preparation = Callable[[Ledger, Worker], Awaitable[Prepared]]


@pytest.fixture
async def proxy(ledger_dsn: str) -> AsyncGenerator[tuple[Proxy, Ledger]]:
    """A ledger whose connections can be cut."""
    async with proxied(ledger_dsn) as (proxy, address), ledger_at(address) as ledger:
        yield proxy, ledger


async def authorizing(ledger: Ledger, me: Worker) -> Prepared:
    """A batch of two; another before it, so that the writer is connected."""
    await authorize(ledger, new_operation("ch_other"))
    items = (new_operation("ch_1"), new_operation("ch_2"))
    del me
    return None, lambda: authorize(ledger, *items, key="k")


async def beginning(ledger: Ledger, me: Worker) -> Prepared:
    """A first send."""
    [held] = await due(ledger, by=me)
    return held, lambda: ledger.begin_attempt(sending(held, me))


async def answering(ledger: Ledger, me: Worker) -> Prepared:
    """The answer to it."""
    [held] = await sent(ledger, by=me)
    return held, lambda: ledger.record_answer(recording(held), actor=me.name)


async def deciding(ledger: Ledger, me: Worker) -> Prepared:
    """Recovery's decision about it."""
    [held] = await sent(ledger, by=me)
    return held, lambda: ledger.apply_decision(decision(held), actor=me.name)


KINDS: Final[dict[str, Preparation]] = {
    "authorized": authorizing,
    "sent": beginning,
    "answered": answering,
    "decided": deciding,
}
"""By the event that each leaves."""


async def check(ledger: Ledger, kind: str, operation: Operation | None, result: object) -> None:
    """The result is what stands in the database, once."""
    match result:
        case Authorized():
            assert not result.repeated
            [row] = await query(ledger, "SELECT count(*) AS n FROM proposals")
            assert row["n"] == 2
            for made in result.operation_ids:
                assert await history(ledger, made) == [kind]
        case Attempt():
            assert operation is not None
            assert (await ledger.operation(operation.id)).attempts == (result,)
        case Recorded():
            assert result.held
            assert operation is not None
            [attempt] = (await ledger.operation(operation.id)).attempts
            assert attempt.finished_at == result.at
        case _:
            assert result is None
    if operation is not None:
        assert (await history(ledger, operation.id)).count(kind) == 1


@pytest.mark.parametrize("loss", list(Loss), ids=["before", "after"])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_write_survives_the_loss_of_its_connection(
    proxy: tuple[Proxy, Ledger], kind: str, loss: Loss
) -> None:
    """The request never arrived, or its commit's answer did not."""
    between, ledger = proxy
    operation, write = await KINDS[kind](ledger, worker())
    between.loss = loss
    result = await write()
    assert between.lost == 1
    await check(ledger, kind, operation, result)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_write_survives_a_loss_inside_its_commit(
    proxy: tuple[Proxy, Ledger], ledger_dsn: str, kind: str
) -> None:
    """A plain look would still see the old state: the look-up waits for the old transaction."""
    between, ledger = proxy
    operation, write = await KINDS[kind](ledger, worker())
    async with commits_held(ledger_dsn) as holder:
        writing = asyncio.ensure_future(write())
        await holder.until_waiting(1)
        between.cut_writers()
        await holder.until_waiting(2)
    await check(ledger, kind, operation, await writing)


@pytest.mark.parametrize("kind", ["sent", "answered", "decided"])
async def test_a_statement_that_outlives_its_connection_is_waited_for(
    proxy: tuple[Proxy, Ledger], ledger_dsn: str, kind: str
) -> None:
    """It waits for a row's lock when its client goes, and writes all the same afterwards."""
    between, ledger = proxy
    operation, write = await KINDS[kind](ledger, worker())
    assert operation is not None
    async with holding(ledger_dsn, operation.id) as holder:
        writing = asyncio.ensure_future(write())
        await holder.until_waiting(1)
        between.cut_writers()
        await holder.until_waiting(2)
    await check(ledger, kind, operation, await writing)


@pytest.mark.parametrize("kind", ["sent", "answered", "decided"])
async def test_a_batch_that_outlives_its_connection_writes_nothing_twice(
    proxy: tuple[Proxy, Ledger], ledger_dsn: str, kind: str
) -> None:
    """Its first row is locked by somebody; the others are written anew before it goes on."""
    between, ledger = proxy
    me = worker()
    names = [f"ch_{i}" for i in range(4)]
    prepare = due if kind == "sent" else sent
    held = await prepare(ledger, *names, by=me)
    writes: dict[str, Callable[[Operation], Awaitable[object]]] = {
        "sent": lambda each: ledger.begin_attempt(sending(each, me)),
        "answered": lambda each: ledger.record_answer(recording(each), actor=me.name),
        "decided": lambda each: ledger.apply_decision(decision(each), actor=me.name),
    }
    async with holding(ledger_dsn, held[0].id) as holder:
        writing = [asyncio.ensure_future(writes[kind](each)) for each in reversed(held)]
        await holder.until_waiting(1)
        between.cut_writers()
        await asyncio.gather(*writing[:-1])
        await holder.until_waiting(2)
    await writing[-1]
    for each in held:
        assert (await history(ledger, each.id)).count(kind) == 1
        assert len((await ledger.operation(each.id)).attempts) == 1


async def test_a_second_send_at_the_same_moment_is_told_apart(proxy: tuple[Proxy, Ledger]) -> None:
    """The clock stands still between an unsent attempt and the next, whose answer is lost."""
    between, ledger = proxy
    me = worker()
    [held] = await sent(ledger, by=me)
    async with ledger.pool.connection() as connection:
        await mark_test_database(connection)
        await set_clock(connection, (await ledger.operation(held.id)).attempts[0].started_at)
    unsent = recording(held, Answer(Outcome.NOT_SENT), state=State.SENT, check_s=-1)
    await ledger.record_answer(unsent, actor=me.name)
    [again] = await ledger.claim(me, share=1, lease_s=LEASE_S)
    between.loss = Loss.ANSWER
    attempt = await ledger.begin_attempt(sending(again, me))
    assert between.lost == 1
    first, second = (await ledger.operation(held.id)).attempts
    assert (attempt, first.started_at) == (second, second.started_at)

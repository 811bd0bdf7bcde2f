"""What happens while the gate waits for a row's lock is judged too: each order, made certain."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta
from uuid import uuid4

import pytest

from ledger.commands import Worker
from ledger.errors import GateStop, Stop
from ledger.model import Attempt, Operation
from ledger.postgres.attempt_writes import BeginAttempt, BeginItem
from ledger.postgres.clock import advance, mark_test_database, set_clock
from ledger.postgres.ledger import Ledger
from ledger.postgres.statements import sql
from tests.support.ledgers import LEASE_S, authorize, new_operation, sending, worker
from tests.support.waiting import Holder, holding
from tests.support.writes import claim_by_another, due, learn_something, query


@pytest.fixture
def me() -> Worker:
    """The worker that is about to send."""
    return worker("me")


@pytest.fixture
async def held(ledger: Ledger, me: Worker) -> Operation:
    """An operation that it holds."""
    [operation] = await due(ledger, by=me)
    return operation


@pytest.fixture
async def waiting(
    ledger: Ledger, ledger_dsn: str, me: Worker, held: Operation
) -> AsyncGenerator[tuple[Holder, asyncio.Task[Attempt]]]:
    """A send that has begun and waits for the row's lock, and who holds it."""
    async with holding(ledger_dsn, held.id) as holder:
        sender = asyncio.create_task(ledger.begin_attempt(sending(held, me)))
        await holder.until_waiting()
        yield holder, sender


async def stopped(holder: Holder, sender: asyncio.Task[Attempt]) -> Stop:
    """Let go of the row; why the gate let nothing out."""
    await holder.connection.execute("COMMIT")
    with pytest.raises(GateStop) as caught:
        await sender
    return caught.value.reason


Waiting = tuple[Holder, asyncio.Task[Attempt]]


async def test_a_send_that_waits_for_a_revocation_stays(waiting: Waiting, held: Operation) -> None:
    """The revocation commits first: nothing leaves."""
    holder, sender = waiting
    await holder.connection.execute(
        sql("revoke"),
        {"authorization_id": held.authorization.id, "by": "p", "reason": "", "payload": "{}"},
    )
    assert await stopped(holder, sender) is Stop.REVOKED


async def test_a_revocation_that_waits_for_a_send_says_so(
    ledger: Ledger, ledger_dsn: str, me: Worker, held: Operation
) -> None:
    """The send commits first: the revocation names it as gone."""
    async with holding(ledger_dsn, held.id) as holder:
        [attempt] = await BeginAttempt().run(holder.connection, [BeginItem.of(sending(held, me))])
        assert isinstance(attempt, Attempt)
        revoker = asyncio.create_task(
            ledger.revoke(held.authorization.id, by="person:amaia", reason="too late")
        )
        await holder.until_waiting()
    revocation = await revoker
    assert (revocation.stopped, revocation.had_left) == ((), (held.id,))


async def test_an_authorization_that_ends_during_the_wait_has_ended(
    ledger: Ledger, ledger_dsn: str, me: Worker
) -> None:
    """Case 16: judged on the clock after the lock, not on that before it."""
    async with ledger.pool.connection() as connection:
        await mark_test_database(connection)
        [held] = await due(ledger, by=me)
        await set_clock(connection, await ledger.now())
    async with holding(ledger_dsn, held.id) as holder:
        sender = asyncio.create_task(ledger.begin_attempt(sending(held, me)))
        await holder.until_waiting()
        await advance(holder.watcher, timedelta(hours=1).total_seconds())
        assert await stopped(holder, sender) is Stop.AUTHORIZATION_EXPIRED


async def test_a_brake_set_during_the_wait_holds(waiting: Waiting) -> None:
    """Brakes are read after the lock as well."""
    holder, sender = waiting
    await holder.watcher.execute("INSERT INTO brakes VALUES ('all', 'p', 'test', ledger_now())")
    assert await stopped(holder, sender) is Stop.BRAKE_ON


async def test_what_is_learned_during_the_wait_counts(waiting: Waiting, held: Operation) -> None:
    """Nobody sends on an older picture."""
    holder, sender = waiting
    await learn_something(holder.connection, held)
    assert await stopped(holder, sender) is Stop.STALE_CASE


async def test_a_claim_taken_over_during_the_wait_is_over(waiting: Waiting) -> None:
    """The old holder's send is stale when it gets the lock."""
    holder, sender = waiting
    await claim_by_another(holder.connection)
    assert await stopped(holder, sender) is Stop.STALE_FENCE


async def test_a_worker_buried_during_the_wait_sends_nothing(
    waiting: Waiting, ledger: Ledger, me: Worker
) -> None:
    """Burial raises the fence of everything that the dead worker held."""
    holder, sender = waiting
    await query(
        ledger,
        "INSERT INTO workers SELECT %s, 'me', 'here', 1, at, at, at"
        " FROM (SELECT ledger_now() AS at) AS clock",
        me.incarnation,
    )
    await holder.connection.execute(
        sql("bury"),
        {
            "incarnation": uuid4(),
            "ttl_s": 60,
            "identity": "me",
            "host": "here",
            "actor": "successor",
            "payload": "{}",
        },
    )
    assert await stopped(holder, sender) is Stop.STALE_FENCE


async def test_a_target_that_becomes_busy_during_the_wait_is_busy(
    waiting: Waiting, ledger: Ledger, me: Worker
) -> None:
    """Another operation on it leaves first, from the transaction that is waited for."""
    holder, sender = waiting
    await authorize(ledger, new_operation("ch_1", separate=True))
    [second] = await ledger.claim(me, share=9, lease_s=LEASE_S)
    [attempt] = await BeginAttempt().run(holder.connection, [BeginItem.of(sending(second, me))])
    assert isinstance(attempt, Attempt)
    assert await stopped(holder, sender) is Stop.TARGET_BUSY


async def test_a_newcomer_on_the_target_that_left_during_the_wait_is_seen(
    ledger: Ledger, ledger_dsn: str, me: Worker
) -> None:
    """It was created after the gate's statement began, so that its snapshot lacks it."""
    elsewhere, first = await due(ledger, "ch_0", "ch_1", by=me)
    async with (
        await ledger.database.open() as connection,
        holding(ledger_dsn, elsewhere.id) as holder,
    ):
        gate = asyncio.create_task(
            BeginAttempt().run(
                connection, [BeginItem.of(sending(each, me)) for each in (elsewhere, first)]
            )
        )
        await holder.until_waiting()
        await authorize(ledger, new_operation("ch_1", separate=True))
        [newcomer] = await ledger.claim(me, share=9, lease_s=LEASE_S)
        await ledger.begin_attempt(sending(newcomer, me))
        await holder.connection.execute("COMMIT")
        left, stayed = await gate
    assert isinstance(left, Attempt)
    assert stayed is Stop.TARGET_BUSY

"""Workers: who is taken for dead, by whom, and what becomes of what a dead one held."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID, uuid4

import pytest

from ledger.commands import Worker
from ledger.errors import GateStop, StaleFence, Stop
from ledger.model import Operation
from ledger.postgres.clock import advance, mark_test_database, set_clock
from ledger.postgres.connect import Connection
from ledger.postgres.ledger import Ledger
from tests.support.ledgers import LEASE_S, authorized, new_operation, sending, worker
from tests.support.writes import (
    claim_by_another,
    decision,
    due,
    history,
    query,
    recording,
    sent,
)

TTL_S: Final = 30.0


@pytest.fixture
async def clock(ledger: Ledger) -> AsyncGenerator[Connection]:
    """A connection that sets the clock; time runs until it is used to stop it."""
    async with await ledger.database.open() as connection:
        await mark_test_database(connection)
        yield connection


async def register(ledger: Ledger, who: Worker) -> None:
    """Enter a worker."""
    await ledger.pool.rows(
        "register_worker",
        incarnation=who.incarnation,
        identity=who.identity,
        host=who.host,
        pid=who.pid,
    )


async def beat(ledger: Ledger, who: Worker) -> dict[str, Any] | None:
    """A heartbeat; nothing for a worker that was buried."""
    return await ledger.pool.row("beat", incarnation=who.incarnation, ttl_s=TTL_S)


async def bury(ledger: Ledger, by: Worker, *, successor: bool = False) -> int:
    """Bury the dead; how many operations are orphans now."""
    rows = await ledger.pool.rows(
        "bury",
        incarnation=by.incarnation,
        ttl_s=TTL_S,
        identity=by.identity if successor else None,
        host=by.host if successor else None,
        actor=by.name,
        payload="{}",
    )
    return len(rows)


async def pass_time(ledger: Ledger, clock: Connection, *alive: Worker, seconds: float) -> None:
    """Let time pass, in which these workers beat."""
    for _ in range(4):
        await advance(clock, seconds / 4)
        for who in alive:
            await beat(ledger, who)


async def test_a_silent_worker_is_buried_by_one_who_beat_for_a_ttl(
    ledger: Ledger, clock: Connection
) -> None:
    """Its operations are due at once, under a new fence, and the history says so."""
    dead, alive = worker("dead"), worker("alive")
    await register(ledger, dead)
    await register(ledger, alive)
    [held] = await due(ledger, by=dead)
    await pass_time(ledger, clock, alive, seconds=TTL_S + 2)
    assert await bury(ledger, alive) == 1
    seen = await ledger.operation(held.id)
    assert (seen.owner, seen.fence) == (None, held.fence + 1)
    assert (await history(ledger, held.id))[-1] == "orphaned"
    assert await bury(ledger, alive) == 0


async def test_a_worker_on_time_is_left_alone(ledger: Ledger, clock: Connection) -> None:
    """Just inside its time, nobody takes from it."""
    slow, alive = worker("slow"), worker("alive")
    await register(ledger, slow)
    await register(ledger, alive)
    await due(ledger, by=slow)
    await pass_time(ledger, clock, alive, seconds=TTL_S / 2)
    await beat(ledger, slow)
    await pass_time(ledger, clock, alive, seconds=TTL_S - 2)
    assert await bury(ledger, alive) == 0


async def test_a_newcomer_buries_nobody(ledger: Ledger, clock: Connection) -> None:
    """After an outage of the database all look silent: the first to wake must not judge."""
    dead, newcomer = worker("dead"), worker("new")
    await register(ledger, dead)
    await due(ledger, by=dead)
    await advance(clock, TTL_S + 1)
    await register(ledger, newcomer)
    assert await bury(ledger, newcomer) == 0


@pytest.mark.parametrize("beats_first", [True, False])
async def test_whoever_slept_as_well_buries_nobody(
    ledger: Ledger, clock: Connection, *, beats_first: bool
) -> None:
    """Both were out of reach for an hour: an old series of heartbeats proves nothing."""
    other, sleeper = worker("other"), worker("sleeper")
    await register(ledger, other)
    await register(ledger, sleeper)
    await due(ledger, by=other)
    await pass_time(ledger, clock, other, sleeper, seconds=2 * TTL_S)
    await advance(clock, 3600)
    if beats_first:
        await beat(ledger, sleeper)
    assert await bury(ledger, sleeper) == 0


async def test_a_buried_worker_buries_nobody(ledger: Ledger, clock: Connection) -> None:
    """Taken for dead wrongly, it still must not take from others."""
    zombie, alive, third = worker("zombie"), worker("alive"), worker("third")
    for who in (zombie, alive, third):
        await register(ledger, who)
    await due(ledger, by=third)
    await pass_time(ledger, clock, zombie, alive, seconds=TTL_S - 2)
    await query(
        ledger,
        "UPDATE workers SET ended_at = ledger_now() WHERE incarnation = %s",
        zombie.incarnation,
    )
    await advance(clock, 5)
    assert await bury(ledger, zombie) == 0


async def test_the_same_identity_on_this_host_is_taken_over_at_once(ledger: Ledger) -> None:
    """Whoever has proven that the identity is free need not wait for a time-to-live."""
    before = worker("w")
    await register(ledger, before)
    [held] = await due(ledger, by=before)
    after = worker("w")
    await register(ledger, after)
    assert await bury(ledger, after, successor=True) == 1
    [mine] = await ledger.claim(after, share=1, lease_s=LEASE_S)
    assert mine.fence == held.fence + 2


async def test_the_same_identity_on_another_host_waits(ledger: Ledger, clock: Connection) -> None:
    """Nobody can prove from here that it is gone."""
    before = replace(worker("w"), host="there")
    after = worker("w")
    await register(ledger, before)
    await due(ledger, by=before)
    await register(ledger, after)
    assert await bury(ledger, after, successor=True) == 0
    await pass_time(ledger, clock, after, seconds=TTL_S + 2)
    assert await bury(ledger, after, successor=True) == 1


async def test_a_buried_worker_is_told_and_writes_nothing(
    ledger: Ledger, clock: Connection
) -> None:
    """Its heartbeat finds nothing; its sends, answers and decisions are stale."""
    dead, alive = worker("dead"), worker("alive")
    await register(ledger, dead)
    await register(ledger, alive)
    [sent_one] = await sent(ledger, "ch_1", by=dead)
    [unsent] = await due(ledger, "ch_2", by=dead)
    await pass_time(ledger, clock, alive, seconds=TTL_S + 2)
    assert await bury(ledger, alive) == 2
    assert await beat(ledger, dead) is None
    with pytest.raises(GateStop) as caught:
        await ledger.begin_attempt(sending(unsent, dead))
    assert caught.value.reason is Stop.STALE_FENCE
    with pytest.raises(StaleFence):
        await ledger.apply_decision(decision(sent_one), actor=dead.name)
    with pytest.raises(StaleFence):
        await ledger.record_answer(recording(sent_one), actor=dead.name)
    assert (await ledger.operation(sent_one.id)).attempts[0].late


async def test_a_gap_begins_a_new_series_of_heartbeats(ledger: Ledger, clock: Connection) -> None:
    """A pause longer than a time-to-live breaks it, a shorter one does not."""
    me = worker("me")
    await register(ledger, me)
    first = await beat(ledger, me)
    await advance(clock, TTL_S - 1)
    second = await beat(ledger, me)
    await advance(clock, TTL_S + 1)
    third = await beat(ledger, me)
    assert first is not None
    assert second is not None
    assert third is not None
    assert first["beating_since"] == second["beating_since"] < third["beating_since"]


async def test_heartbeats_only_raise_the_clocks_mark(ledger: Ledger, clock: Connection) -> None:
    """A standby whose clock lags does not lower it, and the gate notices."""
    me = worker(str(uuid4()))
    await register(ledger, me)
    await set_clock(clock, await ledger.now())
    marks: list[tuple[datetime, bool]] = []
    for seconds in (10, -60, 20):
        await advance(clock, seconds)
        await beat(ledger, me)
        [row] = await query(
            ledger, "SELECT high_water, clock_went_back() AS back FROM ledger_identity"
        )
        marks.append((row["high_water"], row["back"]))
    assert [back for _, back in marks] == [False, True, True]
    assert len({mark for mark, _ in marks}) == 1


async def test_what_somebody_has_taken_over_is_not_given_back(ledger: Ledger) -> None:
    """Letting go under an older fence changes nothing: its new owner goes on."""
    [held] = await due(ledger, "ch_1")
    async with await ledger.database.open() as connection:
        await claim_by_another(connection)
    taken = await ledger.operation(held.id)
    await ledger.release([held], check_s=0)
    assert await ledger.operation(held.id) == taken
    assert taken.owner is not None


async def test_a_claim_that_is_lost_before_it_is_read_hands_nothing_out(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its claimer stood still in between; two owners under one fence would both send."""
    await authorized(ledger, new_operation("ch_1"))
    read = ledger.operations

    async def stand_still(ids: Sequence[UUID]) -> list[Operation]:
        async with await ledger.database.open() as connection:
            await claim_by_another(connection)
        return await read(ids)

    monkeypatch.setattr(ledger, "operations", stand_still)
    assert await ledger.claim(worker(), share=10, lease_s=LEASE_S) == []

"""After an outage: how fast ten thousand orphans are brought to their truth.

What bounds it should be the provider's read budget, shared by all workers, and nothing else. The
workers are the real passes with the real budget, on one event loop; the provider answers at once,
so that only the budget, the database and our own code take time. `OUTLIVE_BENCH_ORPHANS` makes
fewer of them; the result names how many there were.
"""

import asyncio
import os
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Final
from uuid import uuid4

from bench.counted import relay
from bench.growing import grow
from bench.instant import Instant, OneType
from bench.rounds import Case, Cost, Line, Options, Result, at_least, interleaved, run
from bench.server import server
from bench.way import Way
from dispatcher.deadline import SystemClock
from dispatcher.dispatch import Dispatcher
from dispatcher.provider import Effect, Look
from dispatcher.timing import Timing
from ledger.commands import Worker
from ledger.model import Liveness, Marker, Operation
from ledger.postgres.connect import Database
from ledger.postgres.ledger import Ledger
from recovery.limits import Limits
from recovery.passes import Passes
from recovery.recover import Recovery
from sidecar.worker.process import PASS_S
from sidecar.worker.readings import ReadBudget

ORPHANS: Final = 10_000
QUICK: Final = 4_000
WORKERS: Final = (1, 2, 4)
READS_A_LOOK: Final = 3
"""As a look-up of a refund: the account, the charge, its refunds."""
BUDGETS: Final = {"20 reads/s, as set": 20.0, "100 reads/s, Stripe's most": 100.0}
ROUNDS_MOST: Final = 3
WARM_S: Final = 3.0
"""The budget's burst is used up before anything counts."""
_COUNTED: Final = 100
"""Orphans whose statements are counted."""
_UNBOUNDED: Final = Limits(reads_per_s=100_000, reads_burst=100_000, reads_chunk=1_000)


class Looking(Instant):
    """The effect of every orphan is there; each look costs reads of the shared budget."""

    def __init__(self, ledger: Ledger, budget: ReadBudget) -> None:
        self._ledger_id = ledger.identity.ledger_id
        self._budget = budget
        self.reads = 0
        self.over = False
        """The measured time has passed: what is in hand is finished without the budget."""

    async def observe(self, operation: Operation, references: frozenset[str]) -> Look:  # noqa: ARG002  the protocol's shape
        """Found, after all reads."""
        for _ in range(READS_A_LOOK):
            if not self.over:
                await self._budget.wait()
            self.reads += 1
        mine = Marker(self._ledger_id, 1, operation.id)
        money = operation.subject.money
        found = Effect(f"re_{operation.id}", mine, True, money, Liveness.SUCCEEDED, "succeeded")
        return Look(effects=(found,))


class Hand:
    """One worker: its passes, followed at once by the next while there is something to do."""

    def __init__(self, ledger: Ledger, limits: Limits) -> None:
        me = Worker(uuid4(), f"bench-{uuid4().hex[:6]}", "here", 1)
        self.kind = Looking(ledger, ReadBudget(ledger.switches, "bench", "cred-1", limits))
        types, timing = OneType(self.kind), Timing()
        dispatcher = Dispatcher(ledger, types, me, timing, SystemClock())
        recovery = Recovery(ledger, types, dispatcher, me, timing, limits)
        self._passes = Passes(ledger, recovery, me, timing, limits)

    async def work(self) -> None:
        """Until cancelled."""
        await self.begin()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._beat())
            group.create_task(self._pass())

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(Timing().heartbeat_s)
            await self._passes.beat()

    async def _pass(self) -> None:
        while True:
            await self._passes.until_idle(lambda: False, pause_s=PASS_S)
            await asyncio.sleep(PASS_S)

    async def begin(self) -> None:
        """Announce itself."""
        await self._passes.register()

    async def once(self) -> None:
        """A heartbeat and a pass."""
        await self._passes.beat()
        await self._passes.orphans()

    async def drain(self) -> None:
        """Finish what is in hand, quickly."""
        self.kind.over = True
        await self._passes.drain()


@asynccontextmanager
async def working(ledger: Ledger, limits: Limits, workers: int) -> AsyncGenerator[list[Hand]]:
    """So many workers, at work."""
    hands = [Hand(ledger, limits) for _ in range(workers)]
    tasks = [asyncio.create_task(hand.work()) for hand in hands]
    try:
        yield hands
    finally:
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        for hand in hands:
            await hand.drain()


def rate(
    ledger: Ledger, limits: Limits, workers: int, seconds: float
) -> Callable[[], Awaitable[float]]:
    """Reads a second over the budget's, while orphans are left."""

    async def once() -> float:
        async with working(ledger, limits, workers) as hands:
            await asyncio.sleep(WARM_S)
            before, began = sum(hand.kind.reads for hand in hands), time.perf_counter()
            await asyncio.sleep(seconds)
            made = sum(hand.kind.reads for hand in hands) - before
            took_s = time.perf_counter() - began
        return made / took_s / limits.reads_per_s

    return once


async def measure(options: Options) -> Result:
    """Each number of workers by turns, for each budget."""
    count = QUICK if options.quick else int(os.environ.get("OUTLIVE_BENCH_ORPHANS", ORPHANS))
    seconds = 5.0 if options.quick else 10.0
    # Each round uses orphans up: more than three would come to their end.
    options = replace(options, rounds=min(options.rounds, ROUNDS_MOST))
    lines: list[Line] = []
    async with server() as dsn, Ledger(Database(dsn)) as ledger:
        await Way(ledger).once()
        async with await ledger.database.open() as connection:
            await grow(connection, count, live=count, each=1)
        cost = await _counted(dsn)
        for name, per_s in BUDGETS.items():
            limits = replace(Limits(), reads_per_s=per_s)
            cases = [Case(str(n), rate(ledger, limits, n, seconds)) for n in WORKERS]
            told = await interleaved(cases, options)
            for workers in WORKERS:
                what = f"{workers} workers, {name}"
                lines.append(Line(what, told.figure(str(workers)), aim=at_least(0.95)))
    return Result(
        name="orphans",
        about=f"reads made after an outage of {count:,} operations, over the read budget",
        lines=lines,
        costs=[cost],
        notes=[f"{READS_A_LOOK} reads a look-up; a worker holds {Limits().claims} of an account"],
    )


async def _counted(dsn: str) -> Cost:
    """Statements and round trips of an orphan, from the claim to its end."""
    async with relay(dsn) as counting, Ledger(Database(counting.dsn)) as ledger:
        hand = Hand(ledger, _UNBOUNDED)
        await hand.begin()
        await hand.once()  # what is prepared once is not counted
        await hand.drain()
        hand.kind.reads = 0
        await counting.begin()
        while hand.kind.reads < _COUNTED * READS_A_LOOK:
            await hand.once()
            await hand.drain()
        return await counting.cost("an orphan", hand.kind.reads // READS_A_LOOK)


if __name__ == "__main__":
    sys.exit(run(measure))

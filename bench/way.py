"""The natural way of one operation, and how many of them go through in a second."""

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import uuid4

from bench.instant import Instant, OneType, item
from dispatcher.deadline import SystemClock
from dispatcher.dispatch import Dispatcher
from dispatcher.prepare import prepare
from dispatcher.timing import Timing
from dispatcher.tracing import OFF, Tracing
from ledger.canonical import digest
from ledger.commands import NewAuthorization, Worker
from ledger.ids import new_id
from ledger.postgres.ledger import Ledger

_NUMBERS: Final = itertools.count(1)


class Way:
    """The natural way of one operation: authorized, read, dispatched."""

    def __init__(self, ledger: Ledger, tracing: Tracing = OFF) -> None:
        self.kind = Instant()
        self.worker = Worker(uuid4(), "bench", "here", 1)
        self.ledger = ledger
        self.timing = Timing()
        self.dispatcher = Dispatcher(
            ledger, OneType(self.kind), self.worker, self.timing, SystemClock(), tracing
        )
        self.until = datetime.now(UTC) + timedelta(hours=1)

    async def wanted(self) -> NewAuthorization:
        """A batch of one, as the policy would approve it."""
        operations = await prepare(self.kind, self.ledger.identity, [item(next(_NUMBERS))])
        return NewAuthorization(
            proposal_id=new_id(),
            authorization_id=new_id(),
            type=self.kind.name,
            type_version=1,
            requested_by="bench",
            request_key=f"key:{next(_NUMBERS)}",
            input_digest=digest(None),
            decided_by="policy:1:small",
            reason="small",
            authorized_until=self.until,
            resend_until=self.until,
            operations=operations,
            mode="auto",
            owner=self.worker.incarnation,
            lease_s=self.timing.lease_s,
        )

    async def once(self) -> None:
        """One operation, from nothing to confirmed."""
        made = await self.ledger.authorize(await self.wanted())
        [operation] = made.operations
        await self.dispatcher.dispatch(operation)


async def rate(once: Callable[[], Awaitable[None]], *, in_flight: int, seconds: float) -> float:
    """Operations a second with so many callers, each with one in flight."""
    done = 0
    began = time.perf_counter()
    until = began + seconds

    async def caller() -> None:
        nonlocal done
        while time.perf_counter() < until:
            await once()
            done += 1

    async with asyncio.TaskGroup() as group:
        for _ in range(in_flight):
            group.create_task(caller())
    return done / (time.perf_counter() - began)

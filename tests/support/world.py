"""A small world for recovery: the real ledger, dispatcher and recovery, a provider, one clock.

The test itself calls the passes and moves the clock, so that hours go by at once and nothing
happens between two lines of a test. Two worlds: `world` has a provider in process, of every
kind; `stripe_world` has the real Stripe adapter and the sandbox behind it.
"""

import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import uuid4

import pytest

from dispatcher.dispatch import Dispatcher
from dispatcher.prepare import prepare
from dispatcher.provider import OperationType
from dispatcher.timing import Timing
from ledger.canonical import digest
from ledger.commands import NewAuthorization, Worker
from ledger.escalations import Escalation
from ledger.ids import new_id
from ledger.model import Marker, Operation, State
from ledger.postgres.clock import advance, mark_test_database, set_clock
from ledger.postgres.ledger import Ledger
from recovery.limits import Limits
from recovery.passes import Passes
from recovery.recover import Recovery
from recovery.verdicts import Verdicts
from sandbox.control import Control
from sidecar.registry import Types
from tests.support import fake_provider as fake
from tests.support.fake_provider import FakeProvider
from tests.support.fake_type import FakeType
from tests.support.hands import Hands, OffClock
from tests.support.ledgers import ledger_at

KINDS: Final = {
    "keyed": fake.KEYED,
    "key_only": fake.KEY_ONLY,
    "look_up": fake.LOOK_UP,
    "tolerable": fake.TOLERABLE,
    "mail": fake.MAIL,
    "target": fake.TARGET,
}
"""The fake provider's kinds of effect, as `fake.<name>`."""

HOUR: Final = 3600.0
DAY: Final = 24 * HOUR
SETTLED: Final = 5.0 + 30.0 + 180.0
"""Seconds from the start of a send until it has settled: budget, kernel, provider."""
STEPS_MOST: Final = 2_000


@dataclass(slots=True)
class World:
    """Everything but the provider."""

    ledger: Ledger
    types: Types
    control: Control | None = None
    """The sandbox's clock moves with the ledger's."""
    timing: Timing = field(default_factory=Timing)
    limits: Limits = field(default_factory=Limits)
    above: Mapping[str, int] = field(default_factory=dict[str, int])
    """Above which amount an answer takes two people, as the policy would say."""
    at: datetime = field(init=False)

    async def begin(self, *, still: bool) -> None:
        """Make the clock ours; `still`: it moves only when told to."""
        async with self.ledger.pool.connection() as connection:
            await mark_test_database(connection)
            if still:
                await set_clock(connection, await self.ledger.now())
        self.at = await self.ledger.now()

    async def later(self, seconds: float) -> None:
        """Let time pass, and nothing happen."""
        async with self.ledger.pool.connection() as connection:
            await advance(connection, seconds)
        if self.control is not None:
            await self.control.advance(seconds)
        self.at = await self.ledger.now()

    async def worker(
        self, identity: str = "w", *, host: str = "here", clock_off_s: float = 0.0
    ) -> Hands:
        """Start a worker process, whose own clock may be off."""
        worker = Worker(uuid4(), identity, host, 1)
        ledger, types, timing, limits = self.ledger, self.types, self.timing, self.limits
        dispatcher = Dispatcher(ledger, types, worker, timing, OffClock(clock_off_s))
        recovery = Recovery(
            ledger,
            types,
            dispatcher,
            worker,
            timing,
            limits,
            wall_s=lambda: time.time() + clock_off_s,
        )
        passes = Passes(ledger, recovery, worker, timing, limits)
        await passes.register()
        verdicts = Verdicts(
            *(ledger, types, dispatcher, worker, timing, limits), above=lambda: self.above
        )
        await self.later(0.001)
        return Hands(worker, passes, verdicts, dispatcher)

    async def authorize(
        self,
        kind: str,
        *items: dict[str, Any],
        valid_s: float = HOUR,
        resend_s: float = 23 * HOUR,
        separate: Sequence[int] = (),
    ) -> list[Operation]:
        """A decided batch."""
        type_: OperationType = self.types.get(kind)
        prepared = await prepare(type_, self.ledger.identity, items, separate=separate)
        now = await self.ledger.now()
        made = await self.ledger.authorize(
            NewAuthorization(
                proposal_id=new_id(),
                authorization_id=new_id(),
                type=type_.name,
                type_version=type_.version,
                requested_by="agent:tests",
                request_key=str(uuid4()),
                input_digest=digest(list(items)),
                decided_by="person:amaia",
                reason="test",
                authorized_until=now + timedelta(seconds=valid_s),
                resend_until=now + timedelta(seconds=resend_s),
                operations=prepared,
            )
        )
        await self.later(0.001)
        return [await self.ledger.operation(operation_id) for operation_id in made.operation_ids]

    async def one(
        self,
        kind: str = "fake.keyed",
        on: str = "ch_1",
        amount_minor: int | None = 3000,
        **how: Any,
    ) -> Operation:
        """One authorized operation of the fake provider."""
        item = (
            {"object": on} if amount_minor is None else {"object": on, "amount_minor": amount_minor}
        )
        [operation] = await self.authorize(kind, item, **how)
        return operation

    async def live(self, seconds: float, *hands: Hands) -> None:
        """Let time pass, with a pass of each worker whenever something is due."""
        end = await self.ledger.now() + timedelta(seconds=seconds)
        for _ in range(STEPS_MOST):
            now, due = await self.ledger.now(), await self._next_due()
            if due is None or due > end:
                break
            if due >= now:
                await self.later((due - now).total_seconds() + 0.001)
            for one in hands:
                await one.step()
        else:
            raise AssertionError("recovery is going round in circles")
        left_s = (end - await self.ledger.now()).total_seconds()
        await self.later(max(0.0, left_s))

    async def _next_due(self) -> datetime | None:
        async with self.ledger.pool.connection() as connection:
            cursor = await connection.execute("SELECT min(next_check_at) AS due FROM operations")
            row = await cursor.fetchone()
        return None if row is None else row["due"]

    def forget(self, kind: str) -> None:
        """Workers that start from now on do not know this type."""
        names = [name for name in self.types.names if name != kind]
        self.types = Types([self.types.get(name) for name in names])

    def marker(self, operation: Operation) -> Marker:
        """What the operation writes at the provider."""
        known = self.ledger.identity
        return Marker(known.ledger_id, known.epoch, operation.id)

    async def read(self, operation: Operation) -> Operation:
        """The operation as it stands now."""
        return await self.ledger.operation(operation.id)

    async def question(self, operation: Operation) -> Escalation:
        """The open question about an operation; the last one answered, if none is open."""
        return await self.ledger.escalations.get(operation.id)

    async def reasons(self, operation: Operation) -> tuple[str, ...]:
        """Why a person is asked about it now; empty if nobody is."""
        open_ones = await self.ledger.escalations.open_ones()
        return next((e.reasons for e in open_ones if e.operation_id == operation.id), ())

    async def considered(self, operation: Operation) -> dict[str, Any]:
        """The case that the last recorded decision rests on."""
        async with self.ledger.pool.connection() as connection:
            cursor = await connection.execute(
                "SELECT considered FROM decision_records WHERE operation_id = %s"
                " ORDER BY id DESC LIMIT 1",
                [operation.id],
            )
            row = await cursor.fetchone()
        return {} if row is None else row["considered"]

    async def account_reasons(self) -> tuple[str, ...]:
        """Why people are asked about an account."""
        open_ones = await self.ledger.escalations.open_ones()
        return tuple(r for e in open_ones if e.scope == "account" for r in e.reasons)


@dataclass(slots=True)
class FakeWorld(World):
    """A world around the provider in process."""

    provider: FakeProvider = field(kw_only=True)


@asynccontextmanager
async def fake_world(dsn: str, **parts: Any) -> AsyncGenerator[FakeWorld]:
    """A ledger of its own, whose clock stands still until it is moved."""
    async with ledger_at(dsn) as ledger:
        provider = FakeProvider(lambda: made.at)
        types = [FakeType(f"fake.{name}", can, provider) for name, can in KINDS.items()]
        made = FakeWorld(ledger, Types(types), provider=provider, **parts)
        await made.begin(still=True)
        yield made


@pytest.fixture
async def world(ledger_dsn: str) -> AsyncGenerator[FakeWorld]:
    """A world with a provider in process."""
    async with fake_world(ledger_dsn) as made:
        yield made


def ended(operation: Operation) -> tuple[State, str | None]:
    """Where an operation has ended, and why it failed."""
    return operation.state, operation.failure_code

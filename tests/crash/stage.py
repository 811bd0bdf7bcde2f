"""Where a case is played: who is on it, how time passes, how one waits. Nothing sleeps on luck.

Where the ledger has nothing to do before some moment, all clocks jump there together; everything
else is waited for at its source, within a limit.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from ledger.ids import new_id
from ledger.model import Operation
from ledger.postgres.connect import Connection, Database
from ledger.postgres.ledger import Ledger
from sidecar.settings import Settings, load
from tests.crash.cases import Case, End, Send, World
from tests.crash.clocks import Clocks
from tests.crash.faults import NEW_KEY, OLD_KEY, Provider
from tests.crash.lane import Lane
from tests.crash.probe import Strike
from tests.crash.processes import Child

LIMIT_S: Final = 60.0
"""Real time for any one thing to come about; a case takes a second or two."""
POLL_S: Final = 0.02
HOP_S: Final = 3.0
"""Time moves in hops of a heartbeat while a dead worker is waited for."""
UNHURRIED_S: Final = 6 * 3600.0
"""Waiting out a saved 500 takes a day of looks that all see the same; most are left out."""


class Stuck(Exception):
    """Something did not come about in time; what, and where it stood."""


def settled(operation: Operation) -> bool:
    """Closed, or before a person; and nobody is at it."""
    return (operation.final or operation.escalated) and operation.owner is None


@dataclass(slots=True)
class Stage:
    """The parts of one case while it is played."""

    case: Case
    lane: Lane
    dsn: str
    ledger: Ledger
    connection: Connection
    clocks: Clocks
    provider: Provider
    cast: dict[str, Child] = field(default_factory=dict[str, Child])
    operation_id: UUID = field(default_factory=new_id)
    reads_before: int = 0
    """Look-ups at the provider before the successor came."""

    async def operation(self) -> Operation:
        """The operation as it stands."""
        return await self.ledger.operation(self.operation_id)

    async def reads(self) -> int:
        """How many look-ups have arrived."""
        return sum(r["method"] == "GET" for r in await self.lane.control.requests())

    async def rows(self, statement: str) -> list[dict[str, Any]]:
        """What a query finds."""
        cursor = await self.connection.execute(statement.encode())
        return await cursor.fetchall()

    async def start(self, role: str, strikes: Sequence[Strike] = ()) -> Child:
        """Start the victim, or its successor under the identity and with the key of its day."""
        same = role == "victim" or self.case.end is End.RESTART
        rotated = self.case.world is World.ROTATED and self.provider.changed
        plan = {
            "settings": _plain(
                settings(
                    self.lane,
                    self.dsn,
                    identity="worker" if same else "another",
                    key=NEW_KEY if rotated else OLD_KEY,
                )
            ),
            "strikes": [asdict(strike) for strike in strikes],
            "clock": str(self.clocks.file),
            "log": str(self.lane.folder / f"{len(self.cast)}-{role}.log"),
        }
        child = self.cast[role] = await self.lane.nursery.start(plan)
        return child

    async def until(
        self,
        what: str,
        done: Callable[[Operation], bool],
        *,
        happens: asyncio.Event | None = None,
    ) -> None:
        """Let the world go on until the operation is as wanted, or something happens.

        Raises:
            Stuck: Neither came about in time.
        """
        limit = time.monotonic() + LIMIT_S
        while happens is None or not happens.is_set():
            operation = await self.operation()
            if done(operation):
                return
            if time.monotonic() > limit:
                raise Stuck(
                    f"{what}: not within {LIMIT_S:g} s, {operation.state}, {operation.decision}, "
                    f"next check {operation.next_check_at}"
                )
            if not await self._world_moves(operation):
                await self._time_passes(operation)
            await asyncio.sleep(POLL_S)

    async def in_time(self, waiting: Coroutine[Any, Any, Any], what: str) -> None:
        """Wait for something else.

        Raises:
            Stuck: It did not come about in time.
        """
        try:
            async with asyncio.timeout(LIMIT_S):
                await waiting
        except TimeoutError:
            raise Stuck(f"{what}: not within {LIMIT_S:g} s") from None

    async def jump_to_check(self, operation: Operation) -> None:
        """Move on to where the operation is looked at next."""
        assert operation.next_check_at is not None
        ahead = operation.next_check_at - await self.ledger.now()
        if ahead > timedelta(0):
            least_s = UNHURRIED_S if operation.decision == "CACHED_500" else 0.0
            await self.clocks.jump(max(ahead.total_seconds() + 0.001, least_s))

    async def _world_moves(self, operation: Operation) -> bool:
        if "heir" in self.cast:
            slow = self.case.send is Send.SLOW
            looks = await self.reads() - self.reads_before if slow else 0
            return await self.provider.relieve(operation, looks)
        if self.case.world_comes_first:
            return await self.provider.relieve(operation, 1)
        return False

    async def _time_passes(self, operation: Operation) -> None:
        """Jump to where something is to be done, if nothing is before it."""
        if operation.owner is not None:
            await self._hop(operation)
        elif operation.next_check_at is not None and not settled(operation):
            await self.jump_to_check(operation)

    async def _hop(self, operation: Operation) -> None:
        """Time passes for an owner that is no more; its successor's heart beats on meanwhile."""
        heir = self.cast.get("heir")
        if heir is None or not self.cast["victim"].halted.is_set():
            return
        workers = await self.rows("SELECT * FROM workers WHERE ended_at IS NULL")
        owner = next((w for w in workers if w["incarnation"] == operation.owner), None)
        alive = next((w for w in workers if w["pid"] == heir.pid), None)
        if owner is None or alive is None or owner is alive:
            return
        if alive["heartbeat_at"] >= await self.ledger.now() - timedelta(seconds=1):
            await self.clocks.jump(HOP_S)


@asynccontextmanager
async def new_stage(case: Case, lane: Lane, dsn: str) -> AsyncGenerator[Stage]:
    """Set up a case's world; leaves nobody alive."""
    database = Database(dsn)
    async with Ledger(database) as ledger, await database.open() as connection:
        await lane.control.reset()
        clocks = Clocks(lane.control, connection, lane.folder / "clock")
        provider = Provider(case, lane.control, lane.url, clocks)
        stage = Stage(case, lane, dsn, ledger, connection, clocks, provider)
        try:
            yield stage
        finally:
            for child in stage.cast.values():
                child.kill()
                await child.ended.wait()


def settings(lane: Lane, dsn: str, *, identity: str, key: str) -> Settings:
    """As in production; only the heart beats fast and reading costs nothing."""
    return load(
        home=lane.folder,
        database_url=dsn,
        stripe_url=lane.url,
        stripe_api_key=key,
        identity=identity,
        heartbeat_s=0.2,
        reads_per_s=1_000,
        reads_burst=10_000,
    )


def _plain(given: Settings) -> dict[str, Any]:
    """Settings that another process can be told: with the key and the password."""
    assert given.database_url is not None
    assert given.stripe_api_key is not None
    return {
        **given.model_dump(mode="json"),
        "database_url": given.database_url.get_secret_value(),
        "stripe_api_key": given.stripe_api_key.get_secret_value(),
    }

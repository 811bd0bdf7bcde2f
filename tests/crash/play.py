"""One case, start to end: a victim that dies at its step, a successor that finds the truth.

Nothing waits for time to pass. Where the ledger has nothing to do before some moment, all clocks
jump there together; everything else is waited for at its source.
"""

import asyncio
import random
import signal
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Any, Final

from dispatcher.prepare import prepare
from ledger.canonical import digest
from ledger.commands import NewAuthorization
from ledger.errors import ProviderError
from ledger.ids import new_id
from ledger.model import Operation
from ledger.postgres.connect import Connection, Database
from ledger.postgres.ledger import Ledger
from sandbox.control import ControlError
from sidecar.settings import Settings, load
from tests.crash.cases import ANYWHERE, Case, End, Kind, Send, World
from tests.crash.clocks import Clocks
from tests.crash.faults import (
    AMOUNT_MINOR,
    CHARGE,
    NEW_KEY,
    OLD_KEY,
    SUBSCRIPTION,
    Provider,
)
from tests.crash.lane import Lane
from tests.crash.probe import SIGNALS, Strike
from tests.crash.processes import Child
from tests.support.waiting import holding

LIMIT_S: Final = 60.0
"""Real time for any one thing to come about; a case takes a second or two."""
POLL_S: Final = 0.02
HOP_S: Final = 3.0
"""Time moves in hops of a heartbeat while a dead worker is waited for."""
UNHURRIED_S: Final = 6 * 3600.0
"""Waiting out a saved 500 takes a day of looks that all see the same; most are left out."""
CALLS_MOST: Final = 9_000
"""Calls into C from the first claim to a recorded answer: 6,000 to 9,000."""

_PENDING: Final = {"gate_pending": "gate_before", "record_pending": "record_before"}


class Stuck(Exception):
    """Something did not come about in time; what, and where it stood."""


@dataclass(slots=True)
class Played:
    """Everything that the judge needs, and the story for people."""

    case: Case
    reached: bool = False
    """The victim got to its step."""
    stuck: str | None = None
    operation: Operation | None = None
    journal: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    sendings: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    questions: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    decisions: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    statuses: dict[str, int | None] = field(default_factory=dict[str, int | None])
    """How the two workers ended."""
    log: str = ""
    took_s: float = 0.0
    truth_after_s: float = 0.0
    """On the jumping clocks: from the successor's start to the end or the question."""


async def play(case: Case, lane: Lane, seed: int) -> Played:
    """Play a case."""
    played = Played(case)
    began = time.monotonic()
    for log in lane.folder.glob("*.log"):
        log.unlink()
    try:
        async with lane.database() as dsn, _stage(case, lane, dsn, played) as stage:
            try:
                await stage.play(random.Random(f"{seed}/{case.name}"))  # noqa: S311
            except (Stuck, ControlError, ProviderError) as error:
                played.stuck = str(error)
            await stage.gather()
    finally:
        played.took_s = time.monotonic() - began
    played.log = "".join(log.read_text() for log in sorted(lane.folder.glob("*.log")))
    return played


@asynccontextmanager
async def _stage(case: Case, lane: Lane, dsn: str, played: Played) -> AsyncGenerator["_Stage"]:
    database = Database(dsn)
    async with Ledger(database) as ledger, await database.open() as connection:
        await lane.control.reset()
        clocks = Clocks(lane.control, connection, lane.folder / "clock")
        provider = Provider(case, lane.control, lane.url, clocks)
        stage = _Stage(case, lane, dsn, ledger, connection, clocks, provider, played)
        try:
            yield stage
        finally:
            await stage.clear()


class _Stage:
    """The parts of one case while it is played."""

    def __init__(
        self,
        case: Case,
        lane: Lane,
        dsn: str,
        ledger: Ledger,
        connection: Connection,
        clocks: Clocks,
        provider: Provider,
        played: Played,
    ) -> None:
        self._case = case
        self._lane = lane
        self._dsn = dsn
        self._ledger = ledger
        self._connection = connection
        self._clocks = clocks
        self._provider = provider
        self._played = played
        self._cast: dict[str, Child] = {}
        self._id = new_id()
        self._reads_before = 0

    async def play(self, chance: random.Random) -> None:
        """Act by act."""
        await self._provider.seed()
        self._id = await self._authorize()
        await self._provider.arm()
        victim = await self._strike(chance)
        await self._between()
        heir = await self._start("heir")
        began_s = self._clocks.ahead_s + time.monotonic()
        await self._until("the truth, or a question", _settled)
        self._played.truth_after_s = self._clocks.ahead_s + time.monotonic() - began_s
        if not victim.ended.is_set():
            await self._wake(victim)
        await self._look_once_more()
        heir.send(signal.SIGTERM)
        await self._in_time(heir.ended.wait(), "the successor's leaving")

    async def clear(self) -> None:
        """Leave nobody alive."""
        for child in self._cast.values():
            child.send(signal.SIGKILL)
            await child.ended.wait()

    async def gather(self) -> None:
        """Collect the evidence."""
        played, control = self._played, self._lane.control
        await control.clear()
        played.operation = await self._ledger.operation(self._id)
        played.journal = await control.journal()
        played.sendings = await self._provider.sendings()
        played.statuses = {name: child.status for name, child in self._cast.items()}
        played.questions = await self._rows("SELECT * FROM escalations ORDER BY opened_at")
        played.events = await self._rows(
            "SELECT e.seq, e.at, e.kind, e.actor, p.payload FROM events e"
            " LEFT JOIN event_payloads p USING (operation_id, seq) ORDER BY e.seq"
        )

    # ── the acts ───────────────────────────────────────────────────────────────────────────

    async def _authorize(self) -> Any:
        refund = self._case.kind is Kind.REFUND
        kind = self._lane.types.get("stripe.refund" if refund else "stripe.subscription_cancel")
        item: dict[str, object] = (
            {"charge": CHARGE, "amount_minor": AMOUNT_MINOR, "currency": "eur"}
            if refund
            else {"subscription": SUBSCRIPTION}
        )
        operations = await prepare(kind, self._ledger.identity, [item])
        now = await self._ledger.now()
        authorized = await self._ledger.authorize(
            NewAuthorization(
                proposal_id=new_id(),
                authorization_id=new_id(),
                type=kind.name,
                type_version=kind.version,
                requested_by="crash",
                request_key=self._case.name,
                input_digest=digest([item]),
                decided_by="person:amaia",
                reason="crash",
                authorized_until=now + timedelta(days=3),
                resend_until=now + timedelta(days=3),
                operations=operations,
            )
        )
        return authorized.operation_ids[0]

    async def _strike(self, chance: random.Random) -> Child:
        """Start the victim and see it end at its step."""
        case = self._case
        number = SIGNALS[case.end]
        step, turn = case.step.partition(":")[0], case.turn
        waits_for_lock = step in _PENDING
        if waits_for_lock:
            step, number = _PENDING[step], signal.SIGSTOP
        if case.step in ANYWHERE:
            turn = chance.randrange(1, CALLS_MOST)
        strikes = [Strike(step, turn, number)]
        if case.world_comes_first:  # it waits before it records, while the world changes
            strikes.append(Strike("record_before", 1, signal.SIGSTOP))
        victim = await self._start("victim", strikes)
        if case.world_comes_first:
            await self._in_time(victim.stopped.wait(), "the victim's first answer")
            await self._provider.change(await self._operation(), self._ledger)
            victim.resume()
        anywhere = case.step in ANYWHERE
        await self._until(
            f"the victim at {case.step}",
            _settled if anywhere else lambda _: False,
            until=victim.halted,
        )
        self._played.reached = victim.halted.is_set()
        if victim.status is not None and victim.status >= 0:
            raise Stuck(f"the victim ended by itself, with status {victim.status}")
        if waits_for_lock and victim.halted.is_set():
            await self._strike_at_lock(victim)
        if not victim.halted.is_set():
            victim.send(SIGNALS[case.end])
            await self._in_time(victim.halted.wait(), "the victim's end")
        return victim

    async def _strike_at_lock(self, victim: Child) -> None:
        """End it while the server still holds its statement back: it is carried out without it."""
        async with holding(self._dsn, self._id) as holder:
            victim.resume()
            await holder.until_waiting()
            victim.send(SIGNALS[self._case.end])
            await self._in_time(victim.halted.wait(), "the victim's end at the lock")

    async def _between(self) -> None:
        """What left arrives; then the world takes its turn, if it has not yet."""
        if self._case.left and self._played.reached:
            await self._in_time(self._provider.until_left(), "the request's arrival")
        for _ in range(3):  # bytes of a dead process are with the sandbox before these are
            await self._lane.control.now()
        if not self._provider.changed:
            await self._provider.change(await self._operation(), self._ledger)
        self._reads_before = await self._reads()

    async def _wake(self, victim: Child) -> None:
        """The one that was stopped goes on, finds out what it lost, and ends in order."""
        victim.resume()
        victim.send(signal.SIGTERM)
        await self._until("the end of the one that woke", lambda _: False, until=victim.ended)
        await self._until("the truth after it woke", _settled)

    async def _look_once_more(self) -> None:
        """The record is compared with the provider again; a question may settle itself."""
        before = await self._operation()
        if before.next_check_at is None:
            return
        await self._pass(before)

        def looked(operation: Operation) -> bool:
            return operation.owner is None and operation.next_check_at != before.next_check_at

        await self._until("another look", looked)

    # ── time and waiting ───────────────────────────────────────────────────────────────────

    async def _until(
        self,
        what: str,
        done: Callable[[Operation], bool],
        *,
        until: asyncio.Event | None = None,
    ) -> None:
        """Let the world go on until something has come about."""
        limit = time.monotonic() + LIMIT_S
        while until is None or not until.is_set():
            operation = await self._operation()
            if done(operation):
                return
            if time.monotonic() > limit:
                raise Stuck(
                    f"{what}: not within {LIMIT_S:g} s, {operation.state}, "
                    f"{operation.decision}, next check {operation.next_check_at}"
                )
            if not await self._world_moves(operation):
                await self._time_passes(operation)
            await asyncio.sleep(POLL_S)

    async def _world_moves(self, operation: Operation) -> bool:
        if "heir" in self._cast:
            looks = await self._reads() - self._reads_before if self._case.send is Send.SLOW else 0
            return await self._provider.relieve(operation, looks)
        if not self._case.world_comes_first:
            return False
        return await self._provider.relieve(operation, 1)

    async def _time_passes(self, operation: Operation) -> None:
        """Jump to where something is to be done, if nothing is before it."""
        if operation.owner is not None:
            await self._hop(operation)
        elif operation.next_check_at is not None and not _settled(operation):
            await self._pass(operation)

    async def _pass(self, operation: Operation) -> None:
        assert operation.next_check_at is not None
        ahead = operation.next_check_at - await self._ledger.now()
        if ahead > timedelta(0):
            least_s = UNHURRIED_S if operation.decision == "CACHED_500" else 0.0
            await self._clocks.jump(max(ahead.total_seconds() + 0.001, least_s))

    async def _hop(self, operation: Operation) -> None:
        """Time passes for an owner that is no more; its successor's heart beats on meanwhile."""
        workers = await self._rows("SELECT * FROM workers WHERE ended_at IS NULL")
        owner = next((w for w in workers if w["incarnation"] == operation.owner), None)
        heir = self._cast.get("heir")
        if owner is None or heir is None or owner["pid"] == heir.pid:
            return
        alive = next((w for w in workers if w["pid"] == heir.pid), None)
        if alive is None or not self._cast["victim"].halted.is_set():
            return
        if alive["heartbeat_at"] >= await self._ledger.now() - timedelta(seconds=1):
            await self._clocks.jump(HOP_S)

    async def _in_time(self, waiting: Coroutine[Any, Any, Any], what: str) -> None:
        try:
            async with asyncio.timeout(LIMIT_S):
                await waiting
        except TimeoutError:
            raise Stuck(f"{what}: not within {LIMIT_S:g} s") from None

    # ── the cast ───────────────────────────────────────────────────────────────────────────

    async def _start(self, role: str, strikes: Sequence[Strike] = ()) -> Child:
        same = role == "victim" or self._case.end is End.RESTART
        rotated = self._case.world is World.ROTATED and self._provider.changed
        settings = _settings(
            self._lane,
            self._dsn,
            "worker" if same else "another",
            NEW_KEY if rotated else OLD_KEY,
        )
        plan = {
            "settings": _plain(settings),
            "strikes": [asdict(strike) for strike in strikes],
            "clock": str(self._clocks.file),
            "log": str(self._lane.folder / f"{len(self._cast)}-{role}.log"),
        }
        child = self._cast[role] = await self._lane.nursery.start(plan)
        return child

    async def _operation(self) -> Operation:
        return await self._ledger.operation(self._id)

    async def _reads(self) -> int:
        return sum(r["method"] == "GET" for r in await self._lane.control.requests())

    async def _rows(self, statement: str) -> list[dict[str, Any]]:
        cursor = await self._connection.execute(statement.encode())
        return await cursor.fetchall()


def _settled(operation: Operation) -> bool:
    """Closed, or before a person; and nobody is at it, nor will be at once."""
    return (operation.final or operation.escalated) and operation.owner is None


def _settings(lane: Lane, dsn: str, identity: str, key: str) -> Settings:
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


def _plain(settings: Settings) -> dict[str, Any]:
    """Settings that another process can be told: with the key and the password."""
    plain = settings.model_dump(mode="json")
    assert settings.database_url is not None
    assert settings.stripe_api_key is not None
    plain["database_url"] = settings.database_url.get_secret_value()
    plain["stripe_api_key"] = settings.stripe_api_key.get_secret_value()
    return plain

"""Seeded worlds in which a backup is put back at any moment: old rows, and a world that went on.

The provider, its true effects and the clock go on; the tables are emptied and filled again with
what they held. Judged by true effects alone.
"""

from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Final

import psycopg
from psycopg import sql

from dispatcher.provider import Effect
from dispatcher.sweeping import Found, SweepPage
from ledger.errors import LookAlike
from ledger.model import Liveness, Operation, State
from ledger.postgres.answers import Given
from ledger.postgres.restoring import NotClean
from recovery.sweep import ReverseSweep
from sidecar.registry import Types
from tests.support import fake_provider as fake
from tests.support.fake_provider import ACCOUNT, ANSWER_LOST, LATE, NEVER_ARRIVED, Done, Plan
from tests.support.fake_type import FakeType
from tests.support.hands import Hands
from tests.support.world import HOUR, SETTLED, FakeWorld

PAGE: Final = 2
KINDS: Final = {"fake.keyed": fake.KEYED, "fake.look_up": fake.LOOK_UP}
_PLANS: Final = (
    Plan(),
    Plan(),
    ANSWER_LOST,
    NEVER_ARRIVED,
    LATE,
    Plan(liveness=Liveness.PENDING),
    Plan(liveness=Liveness.DEAD),
)
_STAY: Final = ("alembic_version", "moves", "test_clock")


class SweptType(FakeType):
    """A type whose effects can be listed."""

    async def home_account(self) -> str | None:
        """There is one account."""
        return ACCOUNT

    async def sweep(self, account: str, since: datetime, page: str | None) -> SweepPage:
        """Newest first, in small pages; everything was created since."""
        del account, since
        shown = [done for done in reversed(self.world.journal) if done.shown]
        start = 0 if page is None else int(page)
        found = [Found(_seen(one), one.object_id) for one in shown[start:][:PAGE]]
        more = str(start + PAGE) if len(shown) > start + PAGE else None
        return SweepPage(tuple(found), more, at=self.world.now())


def _seen(done: Done) -> Effect:
    return Effect(
        reference=done.reference,
        marker=done.marker,
        subject_matches=True,
        money=done.money,
        liveness=done.liveness,
        provider_status=done.liveness.value,
    )


@dataclass(slots=True)
class Backup:
    """The rows of all tables at a moment."""

    rows: dict[str, bytes] = field(default_factory=dict[str, bytes])

    @classmethod
    def of(cls, dsn: str) -> "Backup":
        """Take one."""
        made = cls()
        with psycopg.connect(dsn) as connection:
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            for name in _tables(connection):
                query = sql.SQL("COPY (SELECT * FROM {}) TO STDOUT").format(sql.Identifier(name))
                with connection.cursor().copy(query) as copy:
                    made.rows[name] = b"".join(bytes(data) for data in copy)
        return made

    def put_back(self, dsn: str) -> None:
        """Make the database what it was."""
        with psycopg.connect(dsn) as connection:
            connection.execute("SET session_replication_role = replica")
            for name in _tables(connection):
                connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(name)))
                query = sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(name))
                with connection.cursor().copy(query) as copy:
                    copy.write(self.rows[name])


def _tables(connection: psycopg.Connection) -> list[str]:
    rows = connection.execute(
        "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
        "   AND c.relname <> ALL(%s) ORDER BY 1",
        [list(_STAY)],
    ).fetchall()
    return [row[0] for row in rows]


@dataclass(slots=True)
class Restoring:
    """One seed."""

    seed: int
    world: FakeWorld
    dsn: str
    draw: Random = field(init=False)
    done: list[Operation] = field(default_factory=list[Operation])
    """Every operation that ever was, remembered or not."""

    def __post_init__(self) -> None:
        """Draw from the seed; the types can be swept."""
        self.draw = Random(self.seed)  # noqa: S311  a seed, no secret
        provider = self.world.provider
        self.world.types = Types([SweptType(n, can, provider) for n, can in KINDS.items()])

    async def play(self) -> None:
        """Work, back up, work, put back, make good, release, work."""
        before = await self.world.worker("before")
        await self._work(before, self.draw.randint(1, 4))
        backup = Backup.of(self.dsn)
        await self._work(before, self.draw.randint(1, 4))
        backup.put_back(self.dsn)
        await self.world.ledger.restorations.begin(by="person:ines", reason="a seed")
        requests = len(self.world.provider.requests)
        after = await self.world.worker("after")
        await self.world.live(self.draw.uniform(1, SETTLED - 31), after)
        self.world.provider.flush()  # what was under way arrives at last
        await self._make_good(after)
        assert len(self.world.provider.requests) == requests, "something was sent in quarantine"
        await self._nothing_is_lost()
        await self._answer_and_release()
        await self._agents_ask_again()
        await self.world.live(30 * HOUR, after)

    async def _work(self, hands: Hands, count: int) -> None:
        for _ in range(count):
            kind = self.draw.choice(list(KINDS))
            on = f"ch_{len(self.done)}"
            self.world.provider.plan(on, self.draw.choice(_PLANS))
            self.done.append(await self.world.one(kind, on, valid_s=48 * HOUR))
            if self.draw.random() < 0.7:
                await self.world.live(self.draw.choice([0.01, 60, SETTLED, 2 * HOUR]), hands)

    async def _make_good(self, hands: Hands) -> None:
        kinds = [self.world.types.get(name) for name in self.world.types.names]
        sweep = ReverseSweep(self.world.ledger, kinds, "sweep:seed")
        for _ in range(20):
            await self.world.live(SETTLED, hands)
            await sweep.run()

    async def _nothing_is_lost(self) -> None:
        """Each true effect is recorded, before a person, or named as without an operation."""
        open_ones = await self.world.ledger.escalations.open_ones(limit=1_000)
        named = {one.reference for one in open_ones if one.scope == "effect"}
        known = {one.operation_id for one in open_ones}
        for effect in self.world.provider.journal:
            assert effect.marker is not None
            if effect.reference in named or effect.marker.operation_id in known:
                continue
            row = await self.world.ledger.operation(effect.marker.operation_id)
            assert row.reference == effect.reference, f"{effect} is not accounted for: {row}"
            assert row.state is not State.CREATED

    async def _answer_and_release(self) -> None:
        ledger = self.world.ledger
        effects = [o for o in await ledger.escalations.open_ones(limit=99) if o.scope == "effect"]
        if effects:
            try:
                await ledger.restorations.release(by="person:ines", settle_s=SETTLED)
            except NotClean:
                pass
            else:
                raise AssertionError("released with questions open")
        for one in effects:
            await ledger.answers.close(Given(one.id, "person:ines", "seen", "-"))
        await ledger.restorations.release(by="person:ines", settle_s=SETTLED)

    async def _agents_ask_again(self) -> None:
        """An agent that knows nothing asks for each intent anew; what took effect is a repeat."""
        living = {
            one.object_id
            for one in self.world.provider.journal
            if one.liveness is not Liveness.DEAD
        }
        for old in self.done:
            on = old.subject.object_id
            try:
                await self.world.one(old.type, on)
            except LookAlike:
                continue
            assert on not in living, f"{on} took effect, and is asked for as if it had not"

    def effects_of_intents(self) -> dict[str, int]:
        """How many living effects each object truly has."""
        counts: dict[str, int] = {}
        for one in self.world.provider.journal:
            if one.liveness is not Liveness.DEAD:
                counts[one.object_id] = counts.get(one.object_id, 0) + 1
        return counts

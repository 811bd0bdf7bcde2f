"""The line to the database: one real connection, which every actor in the world takes turns on.

A statement, or a whole transaction, is one step. Before it the database's clock is set. What is
cut, is cut here: before the statement, inside the transaction, or after the commit, by the seed.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any, Self, cast

import psycopg
from psycopg.rows import DictRow

from ledger.postgres.connect import Connection, Database
from ledger.postgres.ledger import Ledger
from ledger.postgres.statements import sql
from tests.simulation.actor import WHO, Fate, Killed
from tests.simulation.stage import Stage


@cache
def _names() -> dict[bytes, str]:
    folder = files("ledger.postgres") / "sql"
    names = [entry.name.removesuffix(".sql") for entry in folder.iterdir()]
    return {sql(name): name for name in names}


@dataclass(slots=True)
class Line:
    """The connection and the stage that it is shared on."""

    db: psycopg.Connection[DictRow]
    stage: Stage
    off_s: float = 0.0
    """How far the database's clock is off."""
    statements: int = 0
    _told: datetime | None = None

    def now(self) -> datetime:
        """The database's clock."""
        return self.stage.now + timedelta(seconds=self.off_s)

    def run(self, query: Any, params: Any = None) -> psycopg.Cursor[DictRow]:
        """Run a statement now, on the world's clock; nobody's turn."""
        self.set_clock()
        self.statements += 1
        return self.db.execute(query, params)

    def set_clock(self) -> None:
        """Move the settable clock, if time has passed."""
        now = self.now()
        if now != self._told:
            self._told = now
            self.db.execute(sql("set_clock"), {"at": now})


@dataclass(slots=True)
class _Cursor:
    real: psycopg.Cursor[DictRow]
    line: Line | None = None
    itersize: int = 0

    @property
    def description(self) -> Any:
        return self.real.description

    async def execute(self, query: Any, params: Any = None) -> None:
        self.real.execute(query, params)

    async def fetchone(self) -> DictRow | None:
        return self.real.fetchone()

    async def fetchall(self) -> list[DictRow]:
        return self.real.fetchall()

    async def __aiter__(self) -> AsyncIterator[DictRow]:
        for row in self.real:
            yield row


@dataclass(slots=True)
class SharedConnection:
    """What the ledger's code takes for a connection of its own."""

    line: Line
    closed: bool = False
    info: Any = None
    _inside: bool = field(default=False, init=False)

    async def close(self) -> None:
        """Nobody else's connection is closed by it."""
        self.closed = True

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.closed = True

    async def execute(
        self, query: Any, params: Any = None, *, prepare: bool | None = None
    ) -> _Cursor:
        """One statement: a step, or a part of one inside a transaction."""
        del prepare  # the shared connection prepares everything
        if self._inside:
            return _Cursor(self.line.run(query, params))
        fate = await self._turn(_names().get(query, "statement"))
        with self._befall(fate):
            return _Cursor(self.line.run(query, params))

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[Any]:
        """One step as a whole; nobody is between its statements."""
        if self._inside:
            with self.line.db.transaction() as savepoint:
                yield savepoint
            return
        fate = await self._turn("transaction")
        with self._befall(fate):
            self._inside = True
            self.line.set_clock()
            try:
                with self.line.db.transaction() as real:
                    yield real
                    if fate is Fate.DIES_INSIDE:
                        self._die()
            finally:
                self._inside = False

    @asynccontextmanager
    async def pipeline(self) -> AsyncGenerator[None]:
        """As a transaction."""
        fate = await self._turn("begin_attempt")
        with self._befall(fate):
            self._inside = True
            self.line.set_clock()
            try:
                with self.line.db.pipeline():
                    yield
            finally:
                self._inside = False

    @asynccontextmanager
    async def cursor(self, *, name: str) -> AsyncGenerator[_Cursor]:
        """A cursor on the server, for the audit."""
        with self.line.db.cursor(name) as real:
            yield _Cursor(cast("psycopg.Cursor[DictRow]", real))

    async def _turn(self, what: str) -> Fate:
        if self.closed:
            raise _lost()
        return await self.line.stage.turn(what)

    @contextmanager
    def _befall(self, fate: Fate) -> Generator[None]:
        if fate is Fate.LOSES_BEFORE:
            self.closed = True
            raise _lost()
        yield
        if fate is Fate.LOSES_AFTER:
            self.closed = True
            raise _lost()
        if fate in {Fate.DIES_AFTER, Fate.DIES_INSIDE}:
            self._die()

    def _die(self) -> None:
        actor = WHO.get()
        assert actor is not None
        self.line.stage.kill(actor, "after its statement")
        raise Killed(actor.name)


def _lost() -> psycopg.OperationalError:
    return psycopg.OperationalError("server closed the connection unexpectedly")


@dataclass(frozen=True, slots=True)
class SharedDatabase(Database):
    """Opens the shared line."""

    line: Line | None = None

    async def open(self, *, writer: bool = False) -> Connection:
        """A connection that is the line."""
        del writer
        assert self.line is not None
        info = self.line.db.info
        # The ledger's code uses of a connection only what is written above.
        return cast("Connection", SharedConnection(self.line, info=info))


@dataclass(frozen=True, slots=True)
class _Lender:
    """Stands in for psycopg's pool, inside the ledger's own."""

    line: Line

    async def open(self, *, wait: bool) -> None:
        del wait

    async def close(self) -> None:
        pass

    @asynccontextmanager
    async def connection(self) -> AsyncGenerator[SharedConnection]:
        yield SharedConnection(self.line)


def ledger_on(line: Line) -> Ledger:
    """A process's own ledger, with a writer of its own, over the shared line."""
    ledger = Ledger(SharedDatabase("shared", writers=1, line=line))
    pool: Any = ledger.pool
    pool._pool = _Lender(line)  # its own would open connections
    return ledger

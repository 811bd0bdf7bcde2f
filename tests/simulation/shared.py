"""What each process takes for connections of its own: all are the one line, in turns.

A statement, or a whole transaction, is one step. What is cut, is cut here: before the statement,
inside the transaction, or after the commit, by the seed.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Self, cast

import psycopg
from psycopg.rows import DictRow

from ledger.postgres.connect import Connection, Database
from ledger.postgres.ledger import Ledger
from ledger.postgres.statements import sql
from tests.simulation.actor import WHO, Fate, Killed
from tests.simulation.line import CONSTANT, Line


@cache
def _names() -> dict[bytes, str]:
    folder = files("ledger.postgres") / "sql"
    names = [entry.name.removesuffix(".sql") for entry in folder.iterdir()]
    return {sql(name): name for name in names}


@dataclass(slots=True)
class _Cursor:
    real: psycopg.Cursor[DictRow]
    line: Line | None = None
    itersize: int = 0

    @property
    def description(self) -> int:
        """Whether there are columns, and how many; nobody asks which."""
        result = self.real.pgresult
        return 0 if result is None else result.nfields

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
class _Known:
    """Stands in for a cursor where the answer is known."""

    rows: list[DictRow]

    async def fetchone(self) -> DictRow | None:
        return self.rows[0] if self.rows else None


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
    ) -> "_Cursor | _Known":
        """One statement: a step, or a part of one inside a transaction."""
        del prepare  # the shared connection prepares everything
        if self._inside:
            return _Cursor(self.line.run(query, params))
        if query in CONSTANT:
            return await self._constant(query)
        fate = await self._turn(_names().get(query, "statement"))
        with self._befall(fate):
            return _Cursor(self.line.run(query, params))

    async def _constant(self, query: str) -> "_Known":
        """A step like any other, but the server is asked once for all worlds."""
        fate = await self._turn("statement")
        with self._befall(fate):
            if query not in self.line.constant:
                self.line.constant[query] = self.line.run(query).fetchall()
            return _Known(self.line.constant[query])

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

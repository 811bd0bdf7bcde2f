"""The group-commit writer: many callers' writes in one commit.

A free connection starts at once with whatever waits, so that alone it adds no delay and under
load a batch forms by itself while the commit before it runs. Nobody is answered before the
commit that holds their row. Failures are each item's own:

* refused by the statement's judgement (a stale fence): that item only, told in its result;
* a data error: the batch is rolled back and its items run singly;
* a deadlock: the batch is run again;
* the connection lost, perhaps inside the commit: each item is looked up under a lock, and run
  again only where it does not stand.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

import psycopg

from ledger.errors import DatabaseUnreachable
from ledger.postgres.connect import LOST, Connection, Database, refused, unreachable

Item = TypeVar("Item")
Result = TypeVar("Result")
Item_contra = TypeVar("Item_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)

_MOST_IN_A_BATCH: Final = 256
_RECONNECT_PAUSES_S: Final = (0.1, 0.2, 0.4, 0.8, 1.6)
"""A restarting server is back within a second; after the last pause nobody knows."""

_log = logging.getLogger(__name__)


class Write(Protocol[Item_contra, Result_co]):
    """A kind of write: one set-based statement."""

    @property
    def name(self) -> str:
        """The statement's name."""
        ...

    def keys(self, item: Item_contra) -> frozenset[str]:
        """What at most one item of a batch may touch."""
        ...

    async def run(
        self, connection: Connection, items: Sequence[Item_contra]
    ) -> Sequence[Result_co]:
        """Write all items in one commit; one result an item, in their order."""
        ...

    async def stands(self, connection: Connection, item: Item_contra) -> Result_co | None:
        """Under a lock: the result, if an earlier run of this item was committed after all."""
        ...


@dataclass(slots=True)
class _Waiting(Generic[Item, Result]):
    kind: Write[Item, Result]
    item: Item
    keys: frozenset[str]
    done: asyncio.Future[Result]


class GroupWriter:
    """Writes what many callers hand in, over a few connections."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queue: deque[_Waiting[Any, Any]] = deque()
        self._news = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._closing = False

    def start(self) -> None:
        """Begin to write; call inside a running loop."""
        self._tasks = [
            asyncio.create_task(self._serve(), name=f"ledger-writer-{number}")
            for number in range(self._database.writers)
        ]

    async def write(self, kind: Write[Item, Result], item: Item) -> Result:
        """Write one item; returns after its commit.

        A caller that is cancelled does not take its item back: it may be committed all the same.

        Raises:
            DatabaseUnreachable: Whether it was written is not known; read it again later.
            IllegalMove: The database's guards refused it.
        """
        if self._closing:
            raise DatabaseUnreachable("this process is shutting down; nothing more is written")
        done: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._queue.append(_Waiting(kind, item, kind.keys(item), done))
        self._news.set()
        return await done

    async def close(self) -> None:
        """Write what waits, then stop."""
        self._closing = True
        self._news.set()
        await asyncio.gather(*self._tasks)

    async def _serve(self) -> None:
        connection: Connection | None = None
        try:
            while True:
                await self._news.wait()
                await asyncio.sleep(0)  # one turn of the loop: others hand in theirs
                batch = self._take()
                if batch:
                    connection = await self._write(connection, batch)
                elif self._closing:
                    return
                else:
                    self._news.clear()
        finally:
            if connection is not None:
                await connection.close()

    def _take(self) -> list[_Waiting[Any, Any]]:
        """The oldest item and what fits beside it: same kind, no key twice."""
        batch: list[_Waiting[Any, Any]] = []
        left: list[_Waiting[Any, Any]] = []
        keys: set[str] = set()
        limit = min(_MOST_IN_A_BATCH, max(16, len(self._queue) // 2))
        while self._queue and len(batch) < limit:
            waiting = self._queue.popleft()
            fits = not batch or waiting.kind is batch[0].kind
            if fits and keys.isdisjoint(waiting.keys):
                batch.append(waiting)
                keys |= waiting.keys
            else:
                left.append(waiting)
                if not fits and len(left) >= limit:
                    break
        self._queue.extendleft(reversed(left))
        if not self._queue and not self._closing:
            self._news.clear()
        return batch

    async def _write(
        self, connection: Connection | None, batch: list[_Waiting[Any, Any]]
    ) -> Connection | None:
        try:
            connection = await self._connected(connection)
            results = await _run(connection, batch)
        except (DatabaseUnreachable, psycopg.InterfaceError, *LOST) as error:
            return await self._after_loss(connection, batch, error)
        except psycopg.DatabaseError as error:
            if len(batch) == 1:
                _fail(batch, refused(error))
            else:
                for waiting in batch:
                    connection = await self._write(connection, [waiting])
        except Exception as error:  # noqa: BLE001  a fault of one kind must not stop the writer
            _fail(batch, error)
        else:
            for waiting, result in zip(batch, results, strict=True):
                _answer(waiting, result)
        return connection

    async def _connected(self, connection: Connection | None) -> Connection:
        if connection is None or connection.closed:
            return await self._database.open(writer=True)
        return connection

    async def _after_loss(
        self, connection: Connection | None, batch: list[_Waiting[Any, Any]], cause: Exception
    ) -> Connection | None:
        """The commit's answer is lost: go by what stands, item by item, under locks."""
        _log.warning("the writer lost its connection in %s: %s", batch[0].kind.name, cause)
        if connection is not None:
            with suppress(psycopg.Error):
                await connection.close()
        while batch:
            waiting, *batch = batch
            try:
                connection = await self._settle(connection, waiting)
            except DatabaseUnreachable as error:
                _fail([waiting, *batch], error)  # their patience is used up as well
                return None
        return connection

    async def _settle(
        self, connection: Connection | None, waiting: _Waiting[Any, Any]
    ) -> Connection | None:
        """Answer one item by what stands, written now if it does not.

        Raises:
            DatabaseUnreachable: The server is gone; this item's caller was not told yet.
        """
        last: Exception = DatabaseUnreachable("")
        for pause_s in _RECONNECT_PAUSES_S:
            try:
                connection = await self._connected(connection)
                result = await waiting.kind.stands(connection, waiting.item)
                if result is None:
                    [result] = await _run(connection, [waiting])
            except (DatabaseUnreachable, *LOST) as error:
                last = error
                await asyncio.sleep(pause_s)
            except psycopg.DatabaseError as error:
                _fail([waiting], refused(error))
                return connection
            except Exception as error:  # noqa: BLE001  a fault of one kind must not stop the writer
                _fail([waiting], error)
                return connection
            else:
                _answer(waiting, result)
                return connection
        if isinstance(last, DatabaseUnreachable):
            raise last
        _fail([waiting], unreachable(last))  # connected, but e.g. its row stayed locked
        return connection


async def _run(connection: Connection, batch: Sequence[_Waiting[Any, Any]]) -> Sequence[Any]:
    """Run a batch; one that was chosen to break a deadlock is run again."""
    items = [waiting.item for waiting in batch]
    while True:
        try:
            return await batch[0].kind.run(connection, items)
        except psycopg.errors.DeadlockDetected:
            _log.info("a deadlock in %s; running it again", batch[0].kind.name)


def _answer(waiting: _Waiting[Any, Any], result: object) -> None:
    if not waiting.done.done():
        waiting.done.set_result(result)


def _fail(batch: Sequence[_Waiting[Any, Any]], error: Exception) -> None:
    for waiting in batch:
        if not waiting.done.done():
            waiting.done.set_exception(error)

"""Waiting reads: any number of callers wait, one query in one place asks for all of them.

A waiting caller is a future: no thread, no connection. NOTIFY on each transition was measured to
halve the ledger's throughput, so what is waited for is polled, all ids in one statement.
"""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import suppress
from enum import StrEnum
from typing import Final
from uuid import UUID

from ledger.errors import DatabaseUnreachable
from ledger.postgres.connect import Pool

EVERY_S: Final = 0.15
"""How often is asked while anybody waits."""
LONGEST_S: Final = 60.0

_log = logging.getLogger(__name__)


class Of(StrEnum):
    """What an id is the id of."""

    OPERATION = "operation"
    PROPOSAL = "proposal"


class Waits:
    """Lets callers wait until something has come to its end."""

    def __init__(self, pool: Pool, *, every_s: float = EVERY_S) -> None:
        self._pool = pool
        self._every_s = every_s
        self._waiting: dict[tuple[Of, UUID], set[asyncio.Future[None]]] = {}
        self._asking: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def count(self) -> int:
        """How many callers wait now."""
        return sum(len(futures) for futures in self._waiting.values())

    async def until_ended(self, of: Of, waited_for: UUID, *, most_s: float) -> None:
        """Return when it has ended, when the time is up, or when this process stops."""
        if most_s <= 0 or self._closed:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault((of, waited_for), set()).add(future)
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask(), name="waiting reads")
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(min(most_s, LONGEST_S)):
                    await future
        finally:
            self._forget((of, waited_for), future)

    def ended(self, of: Of, what: UUID) -> None:
        """This process has brought it to its end itself: nobody need wait for the next question."""
        self._wake([(of, what)])

    def close(self) -> None:
        """Let everybody go with what is known; nobody waits any more."""
        self._closed = True
        self._wake(list(self._waiting))

    async def _ask(self) -> None:
        """Ask for all at once, until nobody waits."""
        try:
            while self._waiting:
                try:
                    rows = await self._pool.rows(
                        "ended",
                        operations=self._ids(Of.OPERATION),
                        proposals=self._ids(Of.PROPOSAL),
                    )
                except DatabaseUnreachable as error:
                    _log.warning("waiting reads: %s", error)
                else:
                    self._wake((of, row["id"]) for row in rows for of in Of)
                if self._waiting:
                    await asyncio.sleep(self._every_s)
        finally:
            self._asking = None

    def _ids(self, of: Of) -> list[UUID]:
        return [waited_for for kind, waited_for in self._waiting if kind is of]

    def _wake(self, keys: Iterable[tuple[Of, UUID]]) -> None:
        for key in keys:
            for future in self._waiting.pop(key, ()):
                if not future.done():
                    future.set_result(None)

    def _forget(self, key: tuple[Of, UUID], future: asyncio.Future[None]) -> None:
        futures = self._waiting.get(key)
        if futures is not None:
            futures.discard(future)
            if not futures:
                del self._waiting[key]

"""One pass of recovery: bury the dead, claim what is due, bring each a step on."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from dispatcher.timing import Timing
from ledger.canonical import canonical
from ledger.commands import Worker
from ledger.errors import DatabaseUnreachable, WorkerFenced
from ledger.model import Operation
from ledger.postgres.ledger import Ledger
from recovery.limits import Limits
from recovery.recover import Recovery

_log = logging.getLogger(__name__)


class Passes:
    """The periodic work of a worker."""

    def __init__(
        self, ledger: Ledger, recovery: Recovery, worker: Worker, timing: Timing, limits: Limits
    ) -> None:
        self._ledger = ledger
        self._recovery = recovery
        self._worker = worker
        self._timing = timing
        self._limits = limits
        self._tasks: set[asyncio.Task[None]] = set()
        self._busy = Counter[str]()
        self._held_back: frozenset[str] = frozenset()
        """Accounts that the last pass left out, since their share was in hand."""
        self._room = asyncio.Event()
        """Half the share of one of them has been brought to its end since."""

    async def register(self) -> None:
        """Announce the worker. Its identity must be proven free on this host by the caller."""
        await self._ledger.pool.rows(
            "register_worker",
            incarnation=self._worker.incarnation,
            identity=self._worker.identity,
            host=self._worker.host,
            pid=self._worker.pid,
        )

    async def beat(self) -> None:
        """Say that this worker lives.

        Raises:
            WorkerFenced: It was taken for dead; its operations belong to others now.
        """
        row = await self._ledger.pool.row(
            "beat",
            incarnation=self._worker.incarnation,
            ttl_s=self._timing.heartbeat_ttl_s,
        )
        if row is None:
            raise WorkerFenced(
                f"{self._worker.name} was taken for dead (no heartbeat for "
                f"{self._timing.heartbeat_ttl_s:g} s); it stops, start it again"
            )

    async def orphans(self) -> int:
        """Take over from dead workers, claim what is due and begin to handle it; how many.

        What takes long holds up nobody else: an account that has its share in hand is passed by.
        """
        told = canonical({"taken_over_by": self._worker.identity}).decode()
        await self._ledger.pool.rows(
            "bury",
            incarnation=self._worker.incarnation,
            ttl_s=self._timing.heartbeat_ttl_s,
            identity=self._worker.identity,
            host=self._worker.host,
            actor=self._worker.name,
            payload=told,
        )
        self._room.clear()
        full = [account for account, busy in self._busy.items() if busy >= self._limits.claims]
        self._held_back = frozenset(full)
        claimed = await self._ledger.claim(
            self._worker,
            share=self._limits.claims,
            lease_s=self._timing.lease_s,
            full=full,
        )
        for operation in claimed:
            task = asyncio.create_task(self._one(operation), name=str(operation.id))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return len(claimed)

    async def until_idle(self, stopped: Callable[[], bool], *, pause_s: float) -> None:
        """Pass after pass, until one finds nothing to take, or the worker is to stop.

        Args:
            stopped: Whether it is.
            pause_s: How long room for what was held back is waited for: other accounts' operations
                fall due meanwhile.
        """
        while not stopped():
            if not await self.orphans() and not await self._has_room(pause_s):
                return

    async def _has_room(self, within_s: float) -> bool:
        """Whether an account that was held back has half its share free.

        The pause until the next pass would else bound a worker to its share of claims a pause.
        """
        if self._held_back:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._room.wait(), within_s)
        return self._room.is_set()

    async def drain(self) -> None:
        """Wait for what is in flight."""
        while self._tasks:
            await asyncio.gather(*self._tasks)

    async def leave(self) -> None:
        """End this worker's life in the ledger: what it still holds is free at once."""
        await self._ledger.pool.rows(
            "retire",
            incarnation=self._worker.incarnation,
            actor=self._worker.name,
            payload=canonical({"left": self._worker.identity}).decode(),
        )

    async def _one(self, operation: Operation) -> None:
        """One bad row must not stop the others: a person is asked about it alone."""
        account = f"{operation.provider}/{operation.subject.account}"
        self._busy[account] += 1
        try:
            await self._handle(operation)
        except DatabaseUnreachable as error:
            _log.warning("%s waits for its lease to end: %s", operation.id, error)
        except Exception:  # noqa: BLE001  the same; its lease will end
            _log.exception("nobody can be asked about %s; it waits for its lease", operation.id)
        finally:
            self._busy[account] -= 1
            if account in self._held_back and self._busy[account] <= self._limits.claims // 2:
                self._room.set()

    async def _handle(self, operation: Operation) -> None:
        try:
            await self._recovery.handle(operation)
        except DatabaseUnreachable:
            raise
        except Exception as error:  # noqa: BLE001  whatever it is, it must not stop the others
            _log.exception("%s can't be judged", operation.id)
            await self._recovery.ask_about_fault(operation, error)

"""Sending at once what the policy approved, in the process that took the request in."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from dispatcher.dispatch import Dispatcher
from ledger.errors import DatabaseUnreachable, GateStop, StaleFence
from ledger.model import Operation
from ledger.postgres.ledger import Ledger

AT_ONCE: Final = 16
"""Provider calls in flight; the rest of a large batch waits its turn under its lease."""

_log = logging.getLogger(__name__)


class Sender:
    """Sends operations that this process holds from the moment they were created."""

    def __init__(self, ledger: Ledger, dispatcher: Dispatcher) -> None:
        self._ledger = ledger
        self._dispatcher = dispatcher
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, operation_ids: Sequence[UUID]) -> None:
        """Begin to send; whoever wants the end waits for it, or reads it later."""
        task = asyncio.create_task(self._send_all(operation_ids), name="sending")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def drain(self) -> None:
        """Wait for what is in flight."""
        while self._tasks:
            await asyncio.gather(*self._tasks)

    async def _send_all(self, operation_ids: Sequence[UUID]) -> None:
        try:
            operations = await self._ledger.operations(operation_ids)
        except DatabaseUnreachable as error:
            _log.warning("left to the workers: %s", error)
            return
        operations.sort(key=lambda operation: operation.item)
        await asyncio.gather(*(self._send(operation) for operation in operations))

    async def _send(self, operation: Operation) -> None:
        """Send one; whatever comes in between is for recovery, which reads only the ledger."""
        async with self._slots:
            try:
                await self._dispatcher.dispatch(operation)
            except GateStop as stop:
                _log.info("%s", stop)
                await self._give_back(operation)
            except StaleFence as error:
                _log.info("%s", error)
            except DatabaseUnreachable as error:
                _log.warning("%s is left to the workers: %s", operation.id, error)
            except Exception:  # noqa: BLE001  one bad row must not stop the others
                _log.exception("%s is left to the workers", operation.id)

    async def _give_back(self, operation: Operation) -> None:
        """Nothing left: a worker looks at it, and decides by the protocol."""
        try:
            await self._ledger.release([operation], check_s=0)
        except DatabaseUnreachable as error:
            _log.warning("%s waits for its lease to end: %s", operation.id, error)

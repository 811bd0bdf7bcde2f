"""Sending at once what the policy approved, in the process that took the request in."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final
from uuid import UUID

from dispatcher.dispatch import Dispatcher
from ledger.errors import DatabaseUnreachable, GateStop, StaleFence
from ledger.model import FINAL, Operation
from ledger.postgres.ledger import Ledger
from sidecar.proposals.waiting import Of

AT_ONCE: Final = 16
"""Provider calls in flight; the rest of a large batch waits its turn under its lease."""

_log = logging.getLogger(__name__)


def _nobody(_of: Of, _id: UUID) -> None:
    """Nobody waits in this process."""


class Sender:
    """Sends operations that this process holds from the moment they were created."""

    def __init__(
        self, ledger: Ledger, dispatcher: Dispatcher, ended: Callable[[Of, UUID], None] = _nobody
    ) -> None:
        """Take what it sends with; `ended` is called for what has come to its end."""
        self._ledger = ledger
        self._dispatcher = dispatcher
        self._ended = ended
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, operations: Sequence[Operation]) -> None:
        """Begin to send a batch; whoever wants the end waits for it, or reads it later."""
        task = asyncio.create_task(self._send_all(operations), name="sending")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def drain(self) -> None:
        """Wait for what is in flight."""
        while self._tasks:
            await asyncio.gather(*self._tasks)

    async def _send_all(self, operations: Sequence[Operation]) -> None:
        ends = await asyncio.gather(*(self._send(operation) for operation in operations))
        if operations and all(ends):
            self._ended(Of.PROPOSAL, operations[0].proposal_id)

    async def _send(self, operation: Operation) -> bool:
        """Send one, and say whether its record is closed.

        Whatever comes in between is for recovery, which reads only the ledger.
        """
        async with self._slots:
            try:
                sent = await self._dispatcher.dispatch(operation)
            except GateStop as stop:
                _log.info("%s", stop)
                await self._give_back(operation)
            except StaleFence as error:
                _log.info("%s", error)
            except DatabaseUnreachable as error:
                _log.warning("%s is left to the workers: %s", operation.id, error)
            except Exception:  # noqa: BLE001  one bad row must not stop the others
                _log.exception("%s is left to the workers", operation.id)
            else:
                if sent.state in FINAL:
                    self._ended(Of.OPERATION, operation.id)
                return sent.state in FINAL
            return False

    async def _give_back(self, operation: Operation) -> None:
        """Nothing left: a worker looks at it, and decides by the protocol."""
        try:
            await self._ledger.release([operation], check_s=0)
        except DatabaseUnreachable as error:
            _log.warning("%s waits for its lease to end: %s", operation.id, error)

"""Gate, then send: one effect, exactly as approved, or nothing.

1. the budget starts, before the gate's transaction;
2. the gate commits `sent`, the attempt and its deadline;
3. the adapter sends the stored bytes, and reads the answer as an outcome;
4. the outcome is recorded under the fence.

No transaction is open while the provider is called.
"""

import asyncio
import logging
from dataclasses import dataclass
from typing import Final

from dispatcher.conclude import conclude
from dispatcher.deadline import Deadline, ProcessClock
from dispatcher.provider import OperationType, Registry
from dispatcher.spans import dispatching
from dispatcher.timing import Timing
from dispatcher.tracing import OFF, Tracing
from ledger.canonical import digest_of_bytes
from ledger.commands import Recording, Sending, Worker
from ledger.errors import DatabaseUnreachable, GateStop, Stop
from ledger.model import Answer, Attempt, Operation, State
from ledger.postgres.ledger import Ledger

_RECORD_PAUSES_S: Final = (1.0, 2.0, 4.0, 8.0)
"""How long a known answer is kept for an unreachable database; then recovery asks again."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Dispatched:
    """What one attempt did, and the state that was recorded."""

    attempt: Attempt
    answer: Answer
    state: State


class Dispatcher:
    """The only way out."""

    def __init__(
        self,
        ledger: Ledger,
        registry: Registry,
        worker: Worker,
        timing: Timing,
        clock: ProcessClock,
        tracing: Tracing = OFF,
    ) -> None:
        self._ledger = ledger
        self._registry = registry
        self._worker = worker
        self._timing = timing
        self._clock = clock
        self._tracing = tracing

    async def dispatch(self, operation: Operation, *, judged_with: str | None = None) -> Dispatched:
        """Send a held operation once.

        Args:
            operation: As it was claimed.
            judged_with: The credential that the decision rests on: sent with another one, the
                same key may be unknown to the provider.

        Raises:
            GateStop: Nothing may leave; nothing was sent or recorded.
            StaleFence: Sent, but somebody else holds it now; the answer is on its attempt.
            DatabaseUnreachable: Before the gate's commit: nothing was sent. After the answer:
                the attempt stays without outcome, and recovery asks the provider.
        """
        kind = self._registry.get(operation.type)
        credential = kind.credential(operation)
        if judged_with is not None and credential != judged_with:
            raise GateStop(operation.id, Stop.STALE_CASE)
        deadline = Deadline.after(self._timing.send_budget_s, self._clock)
        with dispatching(self._tracing, operation) as trace:
            attempt = await self._ledger.begin_attempt(
                Sending(
                    operation=operation,
                    owner=self._worker.incarnation,
                    process=self._worker.name,
                    credential=credential,
                    digest=digest_of_bytes(operation.request),
                    budget_s=self._timing.send_budget_s,
                    lease_s=self._timing.lease_s,
                    settle_s=self._timing.settle_s(kind.capabilities),
                    trace_id=trace.trace_id,
                    span_id=trace.span_id,
                )
            )
            trace.started(attempt)
            answer = await kind.send(operation, deadline.gate_passed(attempt.started_at))
            trace.answered(answer)
            state = await self._record(operation, kind, attempt, answer)
            trace.recorded(state)
        return Dispatched(attempt, answer, state)

    async def _record(
        self, operation: Operation, kind: OperationType, attempt: Attempt, answer: Answer
    ) -> State:
        end = conclude(operation.attempts, answer, kind.capabilities, kind.waits)
        recording = Recording(
            operation=operation,
            number=attempt.number,
            answer=answer,
            state=end.state,
            in_doubt=end.in_doubt,
            failure_code=end.failure_code,
            check_s=end.check_s,
            clear_window=end.clear_window,
        )
        for pause_s in _RECORD_PAUSES_S:
            try:
                await self._ledger.record_answer(recording, actor=self._worker.name)
            except DatabaseUnreachable:
                _log.warning("%s: the answer waits for the database", operation.id)
                await asyncio.sleep(pause_s)
            else:
                return end.state
        await self._ledger.record_answer(recording, actor=self._worker.name)
        return end.state

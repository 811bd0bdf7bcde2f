"""Sending: the gate before, the answer after, and what recovery decides; each under its fence."""

import json

from ledger.commands import DecisionWrite, Recording, Sending, Worker
from ledger.errors import GateStop, StaleCase, StaleFence, Stop
from ledger.model import Answer, Attempt, Operation
from ledger.postgres.attempt_writes import (
    BeginAttempt,
    BeginItem,
    RecordAnswer,
    Recorded,
    RecordItem,
)
from ledger.postgres.decision_writes import ApplyDecision, DecisionItem
from ledger.postgres.events import event
from ledger.postgres.reading import Reading
from ledger.postgres.rows import answer_as_json

_BEGIN = BeginAttempt()
_RECORD = RecordAnswer()
_DECIDE = ApplyDecision()


class Moving(Reading):
    """The part of the ledger that moves operations."""

    async def begin_attempt(self, sending: Sending) -> Attempt:
        """Pass the gate: `sent`, the attempt and the deadline are committed on return.

        Raises:
            GateStop: Nothing may leave; nothing was recorded.
        """
        result = await self._writer.write(_BEGIN, BeginItem.of(sending))
        if isinstance(result, Stop):
            raise GateStop(sending.operation.id, result)
        return result

    async def record_answer(self, recording: Recording, *, actor: str) -> Recorded:
        """Record what an attempt did.

        Raises:
            StaleFence: Somebody else holds the operation; the answer is kept on its attempt.
        """
        recorded = await self._writer.write(_RECORD, RecordItem.of(recording, actor))
        if not recorded.held:
            raise StaleFence(recording.operation.id, recording.operation.fence)
        return recorded

    async def apply_decision(self, write: DecisionWrite, *, actor: str) -> None:
        """Write a decision of recovery.

        Raises:
            StaleFence: Somebody else holds the operation.
            StaleCase: Something was learned since it was read.
        """
        result = await self._writer.write(_DECIDE, DecisionItem.of(write, actor))
        if result is Stop.STALE_FENCE:
            raise StaleFence(write.operation.id, write.operation.fence)
        if result is Stop.STALE_CASE:
            raise StaleCase(write.operation.id, write.operation.case_version)

    async def import_attempt(
        self, operation: Operation, worker: Worker, *, credential: str, answer: Answer
    ) -> None:
        """Enter a sending that the record does not know, though its effect was found.

        Raises:
            StaleCase: Something was learned since it was read.
        """
        given = event(worker.name, {"reference": answer.reference})
        row = await self.pool.row(
            "import_attempt",
            id=operation.id,
            fence=operation.fence,
            case_version=operation.case_version,
            owner=worker.incarnation,
            process=worker.name,
            credential=credential,
            answer=json.dumps(answer_as_json(answer)),
            salt=bytes.fromhex(given.pop("salt_hex")),
            **given,
        )
        if row is None:
            raise StaleCase(operation.id, operation.case_version)

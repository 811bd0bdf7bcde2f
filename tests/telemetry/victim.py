"""A process that sends one operation, with its telemetry, and kills itself at a step.

Arguments: database, state folder, ClickHouse, operation, step.
"""

import asyncio
import os
import signal
import sys
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from uuid import UUID, uuid4

from dispatcher.deadline import Deadline, SystemClock
from dispatcher.dispatch import Dispatcher
from dispatcher.timing import Timing
from dispatcher.tracing import Started
from ledger.commands import Recording, Sending, Worker
from ledger.model import Answer, Attempt, Liveness, Operation, Outcome
from ledger.postgres.attempt_writes import Recorded
from ledger.postgres.connect import Database
from ledger.postgres.ledger import Ledger
from sidecar.registry import Types
from telemetry.export import Telemetry, open_telemetry
from telemetry.settings import TelemetrySettings
from tests.support.fake_provider import KEYED, FakeProvider
from tests.support.fake_type import FakeType


class Step(StrEnum):
    """Where the process dies."""

    BEFORE_GATE = "before the gate"
    AFTER_GATE = "the gate has committed"
    AFTER_NOTE = "the started record is written"
    AFTER_EFFECT = "the provider has acted"
    AFTER_ANSWER = "the answer is read"
    AFTER_RECORD = "the outcome is recorded"
    AFTER_FLUSH = "the spans have left"


def die() -> None:
    """As by the kernel's hand."""
    os.kill(os.getpid(), signal.SIGKILL)


class DyingType(FakeType):
    """Always accepted; dies once it has acted."""

    def __init__(self, step: Step) -> None:
        super().__init__("stripe.refund", KEYED, FakeProvider(lambda: datetime.now(UTC)))
        self._step = step

    async def send(self, operation: Operation, deadline: Deadline) -> Answer:
        """Act, and perhaps die before the answer is read."""
        del operation, deadline
        if self._step is Step.AFTER_EFFECT:
            die()
        return Answer(Outcome.ACCEPTED, reference="re_1", liveness=Liveness.SUCCEEDED)


class DyingLedger(Ledger):
    """Dies around its two writes."""

    step: Step

    async def begin_attempt(self, sending: Sending) -> Attempt:
        """Pass the gate, and perhaps die on either side of it."""
        self._die_at(Step.BEFORE_GATE)
        attempt = await super().begin_attempt(sending)
        self._die_at(Step.AFTER_GATE)
        return attempt

    async def record_answer(self, recording: Recording, *, actor: str) -> Recorded:
        """Record, and perhaps die on either side of it."""
        self._die_at(Step.AFTER_ANSWER)
        recorded = await super().record_answer(recording, actor=actor)
        self._die_at(Step.AFTER_RECORD)
        return recorded

    def _die_at(self, step: Step) -> None:
        if self.step is step:
            die()


def dying(telemetry: Telemetry, step: Step) -> Telemetry:
    """Dies once the started record is written."""
    note = telemetry.tracing.note

    def noted(started: Started) -> None:
        note(started)
        if step is Step.AFTER_NOTE:
            die()

    return replace(telemetry, tracing=replace(telemetry.tracing, note=noted))


async def main(dsn: str, home: str, clickhouse: str, operation_id: str, step: str) -> None:
    """Send one operation."""
    worker = Worker(uuid4(), "victim", "here", os.getpid())
    opened = open_telemetry(
        TelemetrySettings(), home=Path(home), clickhouse_url=clickhouse, instance=worker.name
    )
    telemetry = dying(opened, Step(step))
    ledger = DyingLedger(Database(dsn))
    ledger.step = Step(step)
    async with ledger:
        types = Types([DyingType(ledger.step)])
        held = await ledger.claim(worker, share=10, lease_s=60)
        [operation] = [one for one in held if one.id == UUID(operation_id)]
        await Dispatcher(
            ledger, types, worker, Timing(), SystemClock(), telemetry.tracing
        ).dispatch(operation)
    telemetry.close(within_s=10)
    die()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

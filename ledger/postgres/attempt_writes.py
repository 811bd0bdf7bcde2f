"""The two writes around a send: the gate with its attempt, and the attempt's answer."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ledger.commands import Recording, Sending
from ledger.errors import Stop
from ledger.model import Attempt, Outcome
from ledger.postgres.connect import Connection
from ledger.postgres.events import event, find_event
from ledger.postgres.rows import answer_as_json
from ledger.postgres.statements import sql


@dataclass(frozen=True, slots=True)
class BeginItem:
    """A sending with the event that will prove it."""

    sending: Sending
    event: dict[str, Any]

    @classmethod
    def of(cls, sending: Sending) -> "BeginItem":
        """Give the sending its event."""
        return cls(
            sending,
            event(sending.process, {"digest": sending.digest, "credential": sending.credential}),
        )


class BeginAttempt:
    """`begin_attempt`: one item a target in a batch, since the later one must see the earlier."""

    name = "begin_attempt"

    def keys(self, item: BeginItem) -> frozenset[str]:
        """The operation and its target."""
        return frozenset({str(item.sending.operation.id), item.sending.operation.target})

    async def run(
        self, connection: Connection, items: Sequence[BeginItem]
    ) -> Sequence[Attempt | Stop]:
        """Judge and record; a stop changed nothing."""
        rows = [
            {
                "i": i,
                "id": str(item.sending.operation.id),
                "fence": item.sending.operation.fence,
                "case_version": item.sending.operation.case_version,
                "owner": str(item.sending.owner),
                "process": item.sending.process,
                "credential": item.sending.credential,
                "digest": item.sending.digest,
                "budget_s": item.sending.budget_s,
                "lease_s": item.sending.lease_s,
                "settle_s": item.sending.settle_s,
                "trace_id": item.sending.trace_id,
                "span_id": item.sending.span_id,
                **item.event,
            }
            for i, item in enumerate(items)
        ]
        cursor = await connection.execute(sql("begin_attempt"), {"rows": json.dumps(rows)})
        told = await cursor.fetchall()
        return [
            Stop(row["stop"]) if row["stop"] else _attempt(item.sending, row)
            for item, row in zip(items, told, strict=True)
        ]

    async def stands(self, connection: Connection, item: BeginItem) -> Attempt | None:
        """The attempt, if its commit stands."""
        row = await find_event(connection, item.sending.operation.id, item.event["event_id"])
        return None if row is None else _attempt(item.sending, row)


def _attempt(sending: Sending, row: dict[str, Any]) -> Attempt:
    return Attempt(
        number=row["number"],
        fence=sending.operation.fence,
        owner=sending.owner,
        process=sending.process,
        credential=sending.credential,
        started_at=row["started_at"],
        send_not_after=row["send_not_after"],
        trace_id=sending.trace_id,
        span_id=sending.span_id,
    )


@dataclass(frozen=True, slots=True)
class RecordItem:
    """A recording with the event that will prove it."""

    recording: Recording
    event: dict[str, Any]

    @classmethod
    def of(cls, recording: Recording, actor: str) -> "RecordItem":
        """Give the recording its event."""
        answer = recording.answer
        return cls(
            recording,
            event(
                actor,
                {
                    "attempt": recording.number,
                    "outcome": answer.outcome.value,
                    "code": answer.code,
                    "http_status": answer.http_status,
                    "request_id": answer.request_id,
                    "reference": answer.reference,
                    "state": recording.state.value,
                },
            ),
        )


@dataclass(frozen=True, slots=True)
class Recorded:
    """Whether the answer was written under a fence that still held, and when."""

    held: bool
    at: datetime


async def _answered_before(connection: Connection, item: RecordItem, at: datetime) -> Recorded:
    """A repeat is told how the first was taken; anything else held nothing and wrote nothing."""
    cursor = await connection.execute(
        sql("how_answered"),
        {
            "id": item.recording.operation.id,
            "number": item.recording.number,
            "answer": json.dumps(answer_as_json(item.recording.answer)),
        },
    )
    row = await cursor.fetchone()
    return Recorded(held=False, at=at) if row is None else Recorded(row["held"], row["at"])


class RecordAnswer:
    """`record_answer`: one item an operation in a batch."""

    name = "record_answer"

    def keys(self, item: RecordItem) -> frozenset[str]:
        """The operation."""
        return frozenset({str(item.recording.operation.id)})

    async def run(self, connection: Connection, items: Sequence[RecordItem]) -> Sequence[Recorded]:
        """Write the answers; what lost its fence is kept on the attempt alone."""
        rows: list[dict[str, Any]] = []
        for i, item in enumerate(items):
            wanted = item.recording
            rows.append(
                {
                    "i": i,
                    "id": str(wanted.operation.id),
                    "fence": wanted.operation.fence,
                    "number": wanted.number,
                    "outcome": wanted.answer.outcome.value,
                    "answer": answer_as_json(wanted.answer),
                    "state": wanted.state.value,
                    "in_doubt": wanted.in_doubt,
                    # What an unclear answer names is looked up, never taken for ours.
                    "reference": wanted.answer.reference
                    if wanted.answer.outcome is Outcome.ACCEPTED
                    else None,
                    "provider_status": wanted.answer.provider_status,
                    "failure_code": wanted.failure_code,
                    "check_s": wanted.check_s,
                    "clear_window": wanted.clear_window,
                    **item.event,
                }
            )
        cursor = await connection.execute(sql("record_answer"), {"rows": json.dumps(rows)})
        told = await cursor.fetchall()
        return [
            Recorded(row["held"], row["at"])
            if row["written"]
            else await _answered_before(connection, item, row["at"])
            for item, row in zip(items, told, strict=True)
        ]

    async def stands(self, connection: Connection, item: RecordItem) -> Recorded | None:
        """Whether the commit stands, and under which fence it was judged."""
        row = await find_event(connection, item.recording.operation.id, item.event["event_id"])
        return None if row is None else Recorded(row["kind"] == "answered", row["at"])

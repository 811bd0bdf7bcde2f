"""Everything that is known of an operation, gathered with a deadline. Shown, never deciding.

Each source is asked at once and on its own: one that is away, slow, or talks nonsense leaves a
named gap, and the others are shown.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from ledger.errors import DatabaseUnreachable, UnknownOperation
from ledger.model import Operation
from ledger.postgres.ledger import Ledger
from telemetry.clickhouse.client import Store
from telemetry.clickhouse.reader import Question, read_facts, read_records, read_spans
from telemetry.errors import ClickHouseUnreachable, LangfuseUnreachable, UnsupportedSchema
from telemetry.langfuse import Langfuse
from telemetry.scrub import scrub_text
from telemetry.timeline import Entry, Found, Source, Timeline, merge, nanoseconds

WITHIN_S: Final = 5.0
"""How long one gathers; what has not answered by then is a gap."""
HISTORY_MOST: Final = 1_000
_VALUE_MAX_CHARS: Final = 300
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TRACE_AT: Final = 1
_TRACEPARENT_PARTS: Final = 4

NO_CLICKHOUSE: Final = (
    "no trace store: `pip install 'outlive[clickhouse]'`, or set OUTLIVE_CLICKHOUSE_URL"
)
NO_LANGFUSE: Final = "Langfuse is not set up (OUTLIVE_LANGFUSE_URL)"


class Evidence:
    """Gathers timelines."""

    def __init__(
        self,
        ledger: Ledger,
        *,
        connect: Callable[[], Store] | None,
        langfuse: Langfuse | None,
        without_clickhouse: str = NO_CLICKHOUSE,
    ) -> None:
        """Name the sources.

        Args:
            ledger: The record.
            connect: Opens the trace store, in a thread; `None` where there is none.
            langfuse: The project to ask; `None` where none is set up.
            without_clickhouse: Why there is no trace store.
        """
        self._ledger = ledger
        self.connect = connect
        self.langfuse = langfuse
        self._without_clickhouse = without_clickhouse

    async def evidence(self, operation_id: UUID, *, within_s: float = WITHIN_S) -> Timeline:
        """The timeline of an operation. Takes at most about `within_s`, whatever is away.

        Raises:
            UnknownOperation: The ledger answers, and has none with this id.
        """
        ledger_s = within_s / 2  # the others are asked for what the ledger says
        operation: Operation | None = None
        try:
            async with asyncio.timeout(ledger_s):
                operation = await self._ledger.operation(operation_id)
                history = await self._history(operation_id)
        except UnknownOperation:
            raise
        except (DatabaseUnreachable, TimeoutError):
            history = Found(Source.LEDGER, (), "the ledger did not answer")
        question = _question(operation_id, operation)
        found = await self._gather(question, history, within_s=within_s - ledger_s)
        return merge(operation_id, () if operation is None else operation.attempts, found)

    async def beside(self, operation: Operation, *, within_s: float) -> Timeline:
        """What others than the ledger know of an operation that was read already.

        Takes at most `within_s`, whatever is away.
        """
        question = _question(operation.id, operation)
        nothing = Found(Source.LEDGER)
        found = await self._gather(question, nothing, within_s=within_s)
        return merge(operation.id, operation.attempts, found)

    async def _history(self, operation_id: UUID) -> Found:
        rows = await self._ledger.pool.rows("read_history", id=operation_id, most=HISTORY_MOST + 1)
        entries = [_event(row) for row in rows[:HISTORY_MOST]]
        return Found(Source.LEDGER, entries, cut=len(rows) > HISTORY_MOST)

    async def _gather(
        self, question: Question, history: Found, *, within_s: float
    ) -> Sequence[Found]:
        return await asyncio.gather(
            self._or_copied(history, question, within_s),
            self._from_store(read_spans, Source.TRACES, question, within_s),
            self._from_store(read_records, Source.LOGS, question, within_s),
            self._from_langfuse(question, within_s),
        )

    async def _or_copied(self, history: Found, question: Question, within_s: float) -> Found:
        """The history, or the copy of it where the ledger did not answer."""
        if history.trouble is None:
            return history
        copied = await self._from_store(read_facts, Source.LEDGER, question, within_s)
        return replace(history, entries=copied.entries, cut=copied.cut)

    async def _from_store(
        self,
        read: Callable[[Store, Question], Found],
        source: Source,
        question: Question,
        within_s: float,
    ) -> Found:
        connect = self.connect
        if connect is None:
            return Found(source, (), self._without_clickhouse, "not_configured")

        def ask() -> Found:
            with connect() as store:
                return read(store, question)

        return await _in_time(asyncio.to_thread(ask), source, "ClickHouse", within_s)

    async def _from_langfuse(self, question: Question, within_s: float) -> Found:
        if self.langfuse is None:
            return Found(Source.LANGFUSE, (), NO_LANGFUSE, "not_configured")
        return await _in_time(self.langfuse.read(question), Source.LANGFUSE, "Langfuse", within_s)


async def _in_time(asked: Awaitable[Found], source: Source, name: str, within_s: float) -> Found:
    try:
        return await asyncio.wait_for(asked, within_s)
    except TimeoutError:
        return Found(source, (), f"{name} did not answer within {within_s:g} s")
    except UnsupportedSchema as error:
        return Found(source, (), str(error), error.code)
    except (ClickHouseUnreachable, LangfuseUnreachable) as error:
        return Found(source, (), str(error))


def _question(operation_id: UUID, operation: Operation | None) -> Question:
    until = datetime.now(UTC)
    if operation is None:
        # An operation's id begins with the milliseconds at which it was allotted (UUIDv7).
        allotted = timedelta(milliseconds=operation_id.int >> 80)
        return Question(operation_id, (), min(_EPOCH + allotted, until), until)
    traces = [attempt.trace_id for attempt in operation.attempts]
    parts = (operation.trace_context or "").split("-")
    agent = parts[_TRACE_AT] if len(parts) == _TRACEPARENT_PARTS else None
    known = dict.fromkeys(trace for trace in (agent, *traces) if trace is not None)
    return Question(operation_id, tuple(known), operation.created_at, until)


def _event(row: Mapping[str, Any]) -> Entry:
    told: Mapping[str, Any] = json.loads(row["payload"] or "{}")
    attempt = told.get("attempt")
    return Entry(
        at_ns=nanoseconds(row["at"]),
        source=Source.LEDGER,
        name=row["kind"],
        attempt=attempt if isinstance(attempt, int) else None,
        who=row["actor"],
        details={
            key: scrub_text(str(value))[:_VALUE_MAX_CHARS]
            for key, value in told.items()
            if isinstance(value, str | int | bool) and value != ""
        },
    )

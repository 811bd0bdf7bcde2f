"""One timeline of an operation from everything that is known of it, with its gaps named. Pure.

The ledger is the record; all else is evidence, for people. What is missing is said, and a missing
trace is never taken as a sign that nothing happened.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from dispatcher import trace_names as names
from ledger.model import Attempt


class Source(StrEnum):
    """Who says so."""

    LEDGER = "ledger"
    ATTEMPTS = "attempts"
    TRACES = "traces"
    LOGS = "logs"
    LANGFUSE = "langfuse"


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened."""

    at_ns: int
    """Nanoseconds since 1970: the database's clock in ledger and attempts, else a process's."""
    source: Source
    name: str
    attempt: int | None = None
    trace_id: str | None = None
    span_id: str | None = None
    parent_span_id: str | None = None
    duration_ns: int | None = None
    status: str = ""
    who: str = ""
    """The actor, or the service."""
    details: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that is missing, and what that means."""

    code: str
    text: str
    source: Source
    attempt: int | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What one source had."""

    source: Source
    entries: Sequence[Entry] = ()
    trouble: str | None = None
    """Why it had nothing to say; `None` where it answered."""
    trouble_code: str = "no_answer"
    cut: bool = False
    """There is more than was read."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """Everything that is known, in the order of time."""

    operation_id: UUID
    entries: tuple[Entry, ...]
    gaps: tuple[Gap, ...]

    def as_json(self) -> dict[str, Any]:
        """For programs. Times also as text."""
        return {
            "operation": str(self.operation_id),
            "entries": [
                {"at": iso(entry.at_ns), **asdict(entry), "source": entry.source.value}
                for entry in self.entries
            ],
            "gaps": [{**asdict(gap), "source": gap.source.value} for gap in self.gaps],
        }


_TITLES: Final = {
    Source.LEDGER: "the ledger",
    Source.ATTEMPTS: "the ledger",
    Source.TRACES: "the trace store",
    Source.LOGS: "the log store",
    Source.LANGFUSE: "Langfuse",
}


def merge(operation_id: UUID, attempts: Sequence[Attempt], found: Iterable[Found]) -> Timeline:
    """Bring everything into one order, each thing once, and name what is missing.

    Args:
        operation_id: Whose timeline.
        attempts: As the ledger has them; empty where it did not answer.
        found: What each source had.
    """
    sources = {one.source: one for one in found}
    entries = {_identity(entry): entry for entry in _attempt_entries(attempts)}
    for one in sources.values():
        for entry in one.entries:
            entries.setdefault(_identity(entry), entry)
    ordered = sorted(entries.values(), key=lambda entry: (entry.at_ns, entry.source, entry.name))
    gaps = [
        *_silent(sources.values()),
        *(gap for attempt in attempts for gap in _of_attempt(attempt, sources)),
    ]
    return Timeline(operation_id, tuple(ordered), tuple(gaps))


def _identity(entry: Entry) -> tuple[object, ...]:
    """Spans and observations by their ids, whatever was delivered twice; the rest as it is."""
    if entry.source in {Source.TRACES, Source.LANGFUSE}:
        return entry.source, entry.trace_id, entry.span_id
    if entry.source is Source.LOGS:
        return entry.source, entry.trace_id, entry.span_id, entry.name, entry.at_ns
    return entry.source, entry.at_ns, entry.name, entry.attempt, tuple(entry.details.items())


def _attempt_entries(attempts: Sequence[Attempt]) -> Iterable[Entry]:
    for attempt in attempts:
        answer = attempt.answer
        yield Entry(
            at_ns=nanoseconds(attempt.started_at),
            source=Source.ATTEMPTS,
            name=f"attempt {attempt.number} began",
            attempt=attempt.number,
            trace_id=attempt.trace_id,
            span_id=attempt.span_id,
            who=attempt.process,
        )
        if answer is not None and attempt.finished_at is not None:
            known = {"code": answer.code, "request": answer.request_id, "found": answer.reference}
            yield Entry(
                at_ns=nanoseconds(attempt.finished_at),
                source=Source.ATTEMPTS,
                name=f"attempt {attempt.number}: {answer.outcome.value}",
                attempt=attempt.number,
                trace_id=attempt.trace_id,
                span_id=attempt.span_id,
                status="late" if attempt.late else "",
                who=attempt.process,
                details={key: value for key, value in known.items() if value},
            )


def _silent(found: Iterable[Found]) -> Iterable[Gap]:
    for one in found:
        if one.trouble is not None:
            yield Gap(one.trouble_code, one.trouble, one.source)
        if one.cut:
            text = f"{_TITLES[one.source]} has more than is shown"
            yield Gap("cut", text, one.source)


def _of_attempt(attempt: Attempt, sources: Mapping[Source, Found]) -> Iterable[Gap]:
    number = attempt.number
    lost = attempt.answer is None
    if lost:
        text = f"attempt {number} has no recorded outcome: it is ambiguous until the provider says"
        yield Gap("no_outcome", text, Source.ATTEMPTS, number)
    if attempt.span_id is None:
        text = f"attempt {number} was made without telemetry"
        yield Gap("no_telemetry", text, Source.TRACES, number)
        return
    traces, logs = sources.get(Source.TRACES), sources.get(Source.LOGS)
    if traces is not None and traces.trouble is None and not _has(traces, attempt):
        why = "the process was lost" if lost else "it was lost, or is still on its way"
        text = f"no span for attempt {number}: {why}"
        yield Gap("process_lost" if lost else "no_span", text, Source.TRACES, number)
    if logs is not None and logs.trouble is None and not _has(logs, attempt):
        text = f"no started record for attempt {number}: it waits in the spool of its host"
        yield Gap("no_record", text, Source.LOGS, number)


def _has(found: Found, attempt: Attempt) -> bool:
    return any(
        entry.trace_id == attempt.trace_id and entry.span_id == attempt.span_id
        for entry in found.entries
    )


def nanoseconds(at: datetime) -> int:
    """Nanoseconds since 1970, exactly."""
    whole = at.replace(microsecond=0)
    return int(whole.timestamp()) * 1_000_000_000 + at.microsecond * 1_000


def iso(at_ns: int) -> str:
    """A time as text, in UTC, to the microsecond."""
    seconds, rest = divmod(at_ns, 1_000_000_000)
    at = datetime.fromtimestamp(seconds, UTC)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{rest // 1_000:06}Z"


def number_of(attributes: Mapping[str, str]) -> int | None:
    """The attempt that a span or record is about."""
    text = attributes.get(names.ATTEMPT_NUMBER, "")
    return int(text) if text.isdigit() else None

"""One timeline of everything: the ledger's history, the provider's word, and others' evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from sidecar.console.escalating.moments import History, Moment
from sidecar.console.escalating.timeline import timeline, with_days
from sidecar.console.page import Call
from telemetry.timeline import Entry, Source, Timeline

_PROVIDER: Final = frozenset({"answered", "answered_late", "decided", "swept", "imported", "asked"})
"""Events that tell what the provider said."""
_SPANS_MOST: Final = 200
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SOURCES: Final = MappingProxyType(
    {Source.TRACES: "trace", Source.LOGS: "log", Source.LANGFUSE: "Langfuse"}
)


class Part(StrEnum):
    """What of the timeline is shown."""

    ALL = "all"
    LEDGER = "ledger"
    PROVIDER = "provider"
    TRACES = "traces"


@dataclass(frozen=True, slots=True)
class Line:
    """One line, and who says so."""

    moment: Moment
    part: Part
    source: str = ""
    """Of evidence from elsewhere."""


def lines(
    call: Call,
    history: History,
    webhooks: Sequence[Mapping[str, Any]],
    evidence: Timeline | None,
    wanted: Part,
) -> tuple[Line, ...]:
    """Everything of a part in the order of time; a hole stays behind the sending it belongs to."""
    kinds = {event["seq"]: event["kind"] for event in history.events}
    groups: list[list[Line]] = []
    for moment in timeline(call, history):
        if moment.hole and groups:
            groups[-1].append(Line(moment, groups[-1][0].part))
        else:
            from_provider = kinds.get(moment.seq) in _PROVIDER or moment.icon == "look"
            groups.append([Line(moment, Part.PROVIDER if from_provider else Part.LEDGER)])
    groups += [[_webhook(call, each)] for each in webhooks]
    if evidence is not None:
        outside = [each for each in evidence.entries if each.source in _SOURCES]
        groups += [[_entry(each)] for each in outside[-_SPANS_MOST:]]
    groups.sort(key=lambda group: group[0].moment.at or _EPOCH)
    shown = [line for group in groups for line in group if wanted in {Part.ALL, line.part}]
    dated = with_days(call, [line.moment for line in shown])
    return tuple(replace(line, moment=moment) for line, moment in zip(shown, dated, strict=True))


def _webhook(call: Call, row: Mapping[str, Any]) -> Line:
    told = Moment(
        "bell",
        call.say("The provider told by itself"),
        row["received_at"],
        text=row["type"],
        code=row["object_id"] or row["event_id"],
    )
    return Line(told, Part.PROVIDER)


def _entry(entry: Entry) -> Line:
    lasted = "" if entry.duration_ns is None else f"{entry.duration_ns / 1e6:,.0f} ms"
    at = _EPOCH + timedelta(microseconds=entry.at_ns / 1_000)
    told = Moment("open", entry.name, at, by=entry.who, text=lasted, code=entry.status)
    return Line(told, Part.TRACES, _SOURCES[entry.source])

"""What happened to an operation, in the order of time, with its gaps named.

The ledger's own history; what traces and logs lack is told by the evidence that was attached to the
question. Nothing decides by it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from babel.dates import format_date

from ledger.model import Attempt, Outcome
from sidecar.console.deeds import provider_name
from sidecar.console.escalating.moments import History, Moment, event_told
from sidecar.console.figures import span
from sidecar.console.page import Call
from telemetry.kept import kept
from telemetry.timeline import Gap


def _(text: str) -> str:
    """Marks a text for translation."""
    return text


_OUTSIDE: Final = 60
"""Spans and records that are shown; `outlive show --evidence` has all."""
_GAPS: Final = MappingProxyType(
    {
        "process_lost": _("There is no span for it either: the process was lost."),
        "no_span": _("There is no span for it: lost, or still on its way."),
        "no_record": _("Its log record waits in the spool of its host."),
        "no_telemetry": _("It was made without telemetry."),
    }
)


@dataclass(frozen=True, slots=True)
class Outside:
    """A span or a record, as other services told it."""

    clock: str
    name: str
    source: str
    who: str
    status: str


def timeline(call: Call, history: History) -> tuple[Moment, ...]:
    """Everything in order, with days and gaps."""
    moments = [
        *_before(call, history),
        *(event_told(call, history, event) for event in history.events),
        *_around(call, history),
    ]
    moments.sort(key=lambda one: (one.at or history.operation.created_at, one.seq))
    return tuple(with_days(call, _with_holes(call, history, moments)))


def missing(history: History) -> tuple[Gap, ...]:
    """What the evidence lacks that is about no single attempt: a source that was silent."""
    return tuple(gap for gap in _gaps(history) if gap.attempt is None)


def outside(call: Call, history: History) -> tuple[Outside, ...]:
    """Spans and records from traces, logs and Langfuse, as far as they were kept."""
    stored = None if history.question is None else history.question.evidence
    entries = () if stored is None else kept(stored).entries[-_OUTSIDE:]
    return tuple(
        Outside(
            f"{datetime.fromtimestamp(one.at_ns / 1e9, call.reader.tz):%H:%M:%S.%f}"[:-3],
            *(one.name, one.source.value, one.who, one.status),
        )
        for one in entries
    )


def _gaps(history: History) -> Sequence[Gap]:
    if history.gathered is not None:
        return history.gathered
    stored = None if history.question is None else history.question.evidence
    return () if stored is None else kept(stored).gaps


def _before(call: Call, history: History) -> list[Moment]:
    asked = history.proposal
    if asked is None:
        return []
    title = call.say("Proposed")
    return [Moment("created", title, asked.created_at, by=asked.requested_by)]


def _around(call: Call, history: History) -> list[Moment]:
    question = history.question
    if question is None:
        return []
    found: list[Moment] = []
    codes = ", ".join(question.reasons)
    found.append(Moment("person", call.say("A person is asked"), question.opened_at, code=codes))
    asked: Mapping[str, Any] = (question.asked or {}).get("last") or {}
    told = {event["at"] for event in history.events if event["kind"] == "asked"}
    if asked and datetime.fromisoformat(asked["at"]) not in told:
        provider = provider_name(history.operation.provider)
        found.append(
            Moment(
                "look",
                call.say("Asked %(provider)s again", provider=provider),
                datetime.fromisoformat(asked["at"]),
                text=call.say("No answer that can be believed.")
                if asked["trouble"]
                else call.say("It answered."),
            )
        )
    if question.closed_at is not None and question.closed_by == "recovery":
        title = call.say("The provider's answer settled it")
        found.append(Moment("confirmed", title, question.closed_at))
    return found


def _with_holes(call: Call, history: History, moments: Sequence[Moment]) -> list[Moment]:
    """Behind each sending whose outcome nobody knows: the time until the next thing known."""
    attempts = {attempt.started_at: attempt for attempt in history.operation.attempts}
    ends = _last_of_attempts(history, moments)
    found: list[Moment] = []
    for place, moment in enumerate(moments):
        found.append(moment)
        attempt = attempts.get(ends[place]) if place in ends else None
        if attempt is not None and attempt.outcome is Outcome.AMBIGUOUS:
            after = moments[place + 1].at if place + 1 < len(moments) else None
            found.append(_hole(call, history, attempt, moment.at, after))
    return found


def _last_of_attempts(history: History, moments: Sequence[Moment]) -> dict[int, datetime]:
    """Where each attempt's last line is: its answer, or else its sending."""
    sent = {event["seq"]: event["at"] for event in history.events if event["kind"] == "sent"}
    answered = {
        event["seq"] for event in history.events if event["kind"] in {"answered", "answered_late"}
    }
    found: dict[int, datetime] = {}
    for place, moment in enumerate(moments):
        if moment.seq in sent:
            found[place] = sent[moment.seq]
        elif moment.seq in answered and place - 1 in found:
            found[place] = found.pop(place - 1)
    return found


def _hole(
    call: Call, history: History, attempt: Attempt, since: datetime | None, until: datetime | None
) -> Moment:
    told = [call.say("Nobody knows whether attempt %(number)s took effect.", number=attempt.number)]
    if attempt.answer is None:
        told = [call.say("Attempt %(number)s was never answered.", number=attempt.number)]
    told += [
        call.say(_GAPS[gap.code])
        for gap in _gaps(history)
        if gap.attempt == attempt.number and gap.code in _GAPS
    ]
    length = "" if since is None or until is None else span((until - since).total_seconds())
    return Moment("", " ".join(told), clock=length, hole=True)


def with_days(call: Call, moments: Sequence[Moment]) -> list[Moment]:
    """Each with its time of day, and the date where it is another than before."""
    found: list[Moment] = []
    today = None
    for moment in moments:
        if moment.at is None:
            found.append(moment)
            continue
        local = moment.at.astimezone(call.reader.tz)
        day = ""
        if local.date() != today:
            today = local.date()
            day = format_date(today, "EEE d MMM y", locale=call.reader.language.value)
        found.append(replace(moment, clock=f"{local:%H:%M:%S}", day=day))
    return found

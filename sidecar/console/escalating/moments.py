"""Events of an operation's history as lines of a timeline. Pure but for the words."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from ledger.escalations import Escalation
from ledger.model import Operation, Outcome
from ledger.proposals import Proposal
from recovery.verify import Verdict
from sidecar.console.deeds import provider_name
from sidecar.console.escalating.questions import why
from sidecar.console.page import Call
from telemetry.timeline import Gap


def _(text: str) -> str:
    """Marks a text for translation."""
    return text


_TOLD: Final = MappingProxyType(
    {
        "orphaned": ("waiting", _("Its process was lost"), _("Another one takes it over.")),
        "imported": ("look", _("Found at the provider"), _("The record knew no sending.")),
        "swept": ("look", _("Found in the provider's list"), ""),
        "asked": ("look", _("Asked again"), ""),
        "webhook": ("bell", _("The provider sent word"), _("It is asked before that counts.")),
        "revoked": ("cross", _("Authorization revoked"), ""),
        "restored": ("waiting", _("The database was restored from a backup"), ""),
        "signature_withdrawn": ("back", _("Signature withdrawn"), ""),
    }
)
_OUTCOMES: Final = MappingProxyType(
    {
        Outcome.ACCEPTED: _("accepted"),
        Outcome.REFUSED: _("refused"),
        Outcome.NOT_SENT: _("nothing left"),
        Outcome.AMBIGUOUS: _("no answer that can be believed"),
    }
)
VERDICTS: Final = MappingProxyType(
    {
        Verdict.HAPPENED: _("It happened"),
        Verdict.DONE_BY_HAND: _("Done by hand"),
        Verdict.DID_NOT_HAPPEN: _("It did not happen"),
        Verdict.SEND_AGAIN: _("Send again"),
        Verdict.GIVE_UP: _("Never send again"),
        Verdict.WAIT: _("Wait"),
        Verdict.SEEN: _("Seen"),
    }
)


@dataclass(frozen=True, slots=True)
class Moment:
    """One line of the timeline."""

    icon: str
    title: str
    at: datetime | None = None
    clock: str = ""
    """The time of day; of a gap its length."""
    day: str = ""
    """The date, where it is another than before."""
    by: str = ""
    text: str = ""
    code: str = ""
    quote: str = ""
    """A person's words."""
    seq: int = 0
    """Of the event; 0 where it is none."""
    hole: bool = False
    """Nobody knows what happened here."""


@dataclass(frozen=True, slots=True)
class History:
    """What the timeline is made of."""

    operation: Operation
    question: Escalation | None
    """The last that was asked about it."""
    proposal: Proposal | None
    events: Sequence[Mapping[str, Any]]
    gathered: Sequence[Gap] | None = None
    """What evidence lacks that was gathered just now; `None`: what was kept with the question."""


def event_told(call: Call, history: History, event: Mapping[str, Any]) -> Moment:
    """A row of `console_history` as a line."""
    told: Mapping[str, Any] = json.loads(event["payload"] or "{}")
    base = {"at": event["at"], "seq": event["seq"]}
    match event["kind"]:
        case "authorized":
            until = history.operation.authorization.authorized_until
            return Moment(
                "tick",
                call.say("Approved"),
                by=event["actor"],
                text=call.say("It may first be sent until %(time)s", time=local_clock(call, until)),
                **base,
            )
        case "sent":
            number = _number(history, event["at"])
            title = call.say("Attempt %(number)s sent", number=number)
            return Moment("sent", title, by=event["actor"], **base)
        case "answered" | "answered_late":
            return _answered(call, event, told)
        case "decided":
            return _decided(call, history, event, told)
        case "verdict" | "verdict_refused" | "answer_signed":
            return _verdict(call, event, told)
        case kind:
            icon, title, text = _TOLD.get(kind, ("open", kind.replace("_", " "), ""))
            more = call.say(text) if text else ""
            return Moment(icon, call.say(title), by=event["actor"], text=more, **base)


def _answered(call: Call, event: Mapping[str, Any], told: Mapping[str, Any]) -> Moment:
    outcome = Outcome(told["outcome"]) if told.get("outcome") else Outcome.AMBIGUOUS
    icons = {Outcome.ACCEPTED: "confirmed", Outcome.REFUSED: "failed"}
    title = call.say(
        "Attempt %(number)s: %(outcome)s",
        number=told.get("attempt", "?"),
        outcome=call.say(_OUTCOMES[outcome]),
    )
    facts = (
        told.get("code"),
        told.get("http_status"),
        told.get("request_id"),
        told.get("reference"),
    )
    late = call.say("The answer came after others had taken over.")
    return Moment(
        icons.get(outcome, "open"),
        title,
        at=event["at"],
        seq=event["seq"],
        text=late if event["kind"] == "answered_late" else "",
        code=", ".join(str(fact) for fact in facts if fact),
    )


def _decided(
    call: Call, history: History, event: Mapping[str, Any], told: Mapping[str, Any]
) -> Moment:
    provider = provider_name(history.operation.provider)
    code = str(told.get("code") or "")
    return Moment(
        "look",
        call.say("Asked %(provider)s", provider=provider),
        at=event["at"],
        seq=event["seq"],
        text=" ".join(filter(None, (why(call, code), _repeated(call, event)))),
        code=code,
    )


def _repeated(call: Call, event: Mapping[str, Any]) -> str:
    if event["times"] == 1:
        return ""
    last = local_clock(call, event["last_at"])
    return call.say("%(times)s times, the last at %(last)s.", times=event["times"], last=last)


def _verdict(call: Call, event: Mapping[str, Any], told: Mapping[str, Any]) -> Moment:
    name = str(told.get("verdict") or str(told.get("code", "")).removeprefix("VERDICT_"))
    name = name.lower().replace("_", "-")
    answer = call.say(VERDICTS[Verdict(name)]) if name in set(Verdict) else name
    endings = {
        "verdict_refused": ("cross", call.say("%(answer)s: refused", answer=answer)),
        "answer_signed": ("open", call.say("%(answer)s: signed, 1 of 2", answer=answer)),
    }
    icon, title = endings.get(event["kind"], ("tick", answer))
    named = told.get("named") or told.get("reference")
    return Moment(
        icon,
        title,
        at=event["at"],
        seq=event["seq"],
        by=event["actor"],
        text=str(told.get("why") or ""),
        code=str(named or ""),
        quote=str(told.get("note") or ""),
    )


def local_clock(call: Call, moment: datetime) -> str:
    """The time of day, with its zone."""
    local = moment.astimezone(call.reader.tz)
    return f"{local:%H:%M:%S} {local.tzname()}"


def _number(history: History, at: datetime) -> int:
    for attempt in history.operation.attempts:
        if attempt.started_at == at:
            return attempt.number
    return 1 + len([each for each in history.events if each["kind"] == "sent" and each["at"] < at])

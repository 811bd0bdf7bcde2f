"""Why an operation is where it is, what happens next and when, and what if that fails. Pure.

In the words of recovery's decisions, and with its own patience: nothing here is decided anew.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from dispatcher.provider import OperationType
from ledger.escalations import Escalation
from ledger.model import Operation, State
from recovery.pace import patience_s
from recovery.words import WORDS
from sidecar.console.deeds import provider_name
from sidecar.console.escalating.questions import why
from sidecar.console.page import Call

_ENDED: Final = frozenset(
    {"NO_EFFECT_RESEND", "SAFE_REPLAY", "TARGET_STATE", "DUPLICATE_TOLERABLE"}
)
"""Reasons to send: none for how it ended."""


@dataclass(frozen=True, slots=True)
class Part:
    """One of the three answers."""

    text: str
    at: datetime | None = None
    """When; `None`: no time is set."""
    latest: bool = False
    """That is the latest it can be."""


@dataclass(frozen=True, slots=True)
class Story:
    """The three answers."""

    here: Part
    code: str
    next: Part
    fails: Part | None
    """`None`: there is nothing left that could fail."""


@dataclass(frozen=True, slots=True)
class Told:
    """What it is told from."""

    call: Call
    operation: Operation
    kind: OperationType | None
    """`None`: this process does not know its type."""
    question: Escalation | None
    """Only while it is open."""
    at: datetime


def story(told: Told) -> Story:
    """The three answers for where it stands."""
    operation = told.operation
    if told.question is not None:
        return _asked(told, told.question)
    if operation.final:
        return _ended(told)
    if operation.never_send:
        return _given_up(told)
    if operation.state is State.CREATED:
        return _unsent(told)
    if operation.lease_until is not None and operation.decision is None:
        return _sending(told)
    return _looking(told)


def then(call: Call, code: str | None) -> str:
    """The second sentence of a decision's words: what happens next."""
    _why, told = WORDS.get(code or "", ("", ""))
    return call.say(told) if told else ""


def _asked(told: Told, question: Escalation) -> Story:
    say, operation = told.call.say, told.operation
    code = question.reasons[0]
    here = why(told.call, code) or str(question.dossier.get("why") or code)
    ends = question.window_ends_at
    fails = Part(say("Nobody answers: people are paged again."))
    if operation.in_doubt and ends is not None and ends > told.at:
        fails = Part(say("From then on, sending the same key again is not safe any more."), ends)
    return Story(
        Part(here),
        code,
        Part(
            say(
                "A person answers. Nothing is sent before that; look-ups go on, and may settle it."
            ),
            operation.next_check_at,
        ),
        fails,
    )


def _ended(told: Told) -> Story:
    say, operation = told.call.say, told.operation
    provider = provider_name(operation.provider)
    if operation.state is State.CONFIRMED:
        here, code = say("It took effect at %(provider)s.", provider=provider), ""
        if operation.decision and operation.decision not in {*_ENDED, "CONFIRMED"}:
            here, code = f"{here} {why(told.call, operation.decision)}".strip(), operation.decision
    else:
        code = operation.failure_code or operation.decision or ""
        here = f"{say('It ended without effect.')} {why(told.call, code)}".strip()
    if operation.next_check_at is None:
        return Story(Part(here), code, Part(say("Nothing more is planned.")), None)
    again = say("The record is compared with %(provider)s once more.", provider=provider)
    contradicts = say("If the provider contradicts the record, a person is asked.")
    return Story(Part(here), code, Part(again, operation.next_check_at), Part(contradicts))


def _given_up(told: Told) -> Story:
    say, operation = told.call.say, told.operation
    return Story(
        Part(why(told.call, "GIVEN_UP")),
        "GIVEN_UP",
        Part(then(told.call, "GIVEN_UP"), operation.next_check_at),
        Part(say("An effect that turns up is put into the record, and people are told.")),
    )


def _unsent(told: Told) -> Story:
    say, operation = told.call.say, told.operation
    code = operation.decision or ""
    here = why(told.call, code) or say("Approved, and not sent yet.")
    if operation.lease_until is not None:
        next_part = Part(say("A process has it in hand and sends it."), operation.lease_until, True)
    elif code:
        next_part = Part(then(told.call, code), operation.next_check_at)
    else:
        next_part = Part(say("A worker sends it, as soon as one runs."), operation.next_check_at)
    return Story(
        Part(here),
        code,
        next_part,
        Part(
            say("If nothing has left by then, it ends as failed and a new proposal is offered."),
            operation.authorization.authorized_until,
        ),
    )


def _sending(told: Told) -> Story:
    say, operation = told.call.say, told.operation
    provider = provider_name(operation.provider)
    return Story(
        Part(say("It was sent, and the answer is on its way.")),
        "",
        Part(
            say("Whoever sent it waits for the answer and records it."),
            operation.lease_until,
            latest=True,
        ),
        Part(say("Its process is taken for lost, and %(provider)s is asked.", provider=provider)),
    )


def _looking(told: Told) -> Story:
    say, operation = told.call.say, told.operation
    provider, code = provider_name(operation.provider), operation.decision or ""
    here = why(told.call, code) or say("It was sent, and its end is not recorded yet.")
    more = then(told.call, code)
    asks = say("%(provider)s is asked what became of it.", provider=provider)
    return Story(
        Part(here),
        code,
        Part(more or asks, operation.next_check_at),
        _person_at(told, code),
    )


def _person_at(told: Told, code: str) -> Part:
    """When a person is asked at the latest: the wait's own limit, or what bounds a resend."""
    operation, kind = told.operation, told.kind
    text = told.call.say("A person is asked.")
    if kind is None:
        return Part(text)
    ends = [operation.authorization.resend_until]
    key, began = kind.capabilities.key, operation.window_started_at
    if key is not None and began is not None:
        ends.append(began + timedelta(seconds=key.window_s))
    patience = patience_s(code, kind.waits) if code else None
    if patience is not None and operation.decision_since is not None:
        ends = [operation.decision_since + timedelta(seconds=patience)]
    last = min(ends)
    return Part(text, last, latest=True) if last > told.at else Part(text)

"""`outlive explain`: why an operation is where it is, and what happens next, in words."""

from datetime import datetime
from typing import Final

import click

from ledger.model import Attempt, Operation, Outcome, State
from recovery.dossier import ANSWERS
from recovery.words import explain as explain_code
from sidecar import words
from sidecar.books import books
from sidecar.cli import as_json as document
from sidecar.cli.base import Cli, console, emit, json_option, run
from sidecar.cli.showing import Shown, read
from sidecar.plain import plain

_OUTCOMES: Final = {
    Outcome.ACCEPTED: "the provider accepted it",
    Outcome.REFUSED: "the provider refused it",
    Outcome.NOT_SENT: "nothing reached the provider",
    Outcome.AMBIGUOUS: "no answer came that can be believed, so nobody knew whether it took effect",
}


@click.command()
@click.argument("operation")
@json_option
@click.pass_obj
def explain(cli: Cli, /, operation: str, *, as_json: bool) -> None:
    """Say in words why an operation is where it is, and what happens next. Takes a prefix."""

    async def work() -> Shown:
        async with books(cli.settings()) as opened:
            return await read(opened, operation)

    shown = run(work())
    if as_json:
        emit(
            {
                "id": str(shown.operation.id),
                "state": shown.operation.state.value,
                "words": sentences(shown),
                "decisions": [document.decided(one) for one in shown.decisions],
                "next_check_at": document.moment(shown.operation.next_check_at),
            }
        )
    else:
        console().print("\n".join(sentences(shown)), soft_wrap=True)


def sentences(shown: Shown) -> list[str]:
    """The whole story, one sentence or two a line. Pure."""
    operation, now = shown.operation, shown.now
    return [
        _headline(operation),
        _approved(operation, now),
        *(_attempted(attempt, now) for attempt in operation.attempts),
        *_judged(shown),
        *_asked(shown),
        _here(operation),
        _next(operation, now),
    ]


def _headline(operation: Operation) -> str:
    where = words.state(
        of=operation.state,
        in_doubt=operation.in_doubt,
        escalated=operation.escalated,
        given_up=operation.never_send,
    )
    amount = words.money(operation.subject.money)
    return f"{where.plain}: {plain(operation.type)}, {amount}, on {plain(operation.target)}"


def _approved(operation: Operation, now: datetime) -> str:
    permit = operation.authorization
    told = f"Approved by {plain(permit.decided_by)} ({words.when(permit.created_at, now)})"
    if permit.revoked_at is not None:
        return f"{told}, revoked {words.when(permit.revoked_at, now)}."
    return f"{told}; may be sent first {_until(permit.authorized_until, now)}."


def _until(moment: datetime, now: datetime) -> str:
    if moment > now:
        return f"until {words.clock(moment, now)} (in {words.span((moment - now).total_seconds())})"
    return f"no more, since {words.clock(moment, now)}"


def _attempted(attempt: Attempt, now: datetime) -> str:
    answer = attempt.answer
    at = words.clock(attempt.started_at, now)
    began = f"Attempt {attempt.number} at {at} by {plain(attempt.process)}"
    if answer is None:
        return f"{began}: no outcome was ever recorded, so it may have taken effect."
    detail = "" if answer.code is None else f" ({plain(answer.code)})"
    late = "; the answer came after others had taken over" if attempt.late else ""
    return f"{began}: {_OUTCOMES[answer.outcome]}{detail}{late}."


def _judged(shown: Shown) -> list[str]:
    return [
        f"{words.clock(one.at, shown.now)} {plain(one.code)}: {plain(_in_words(one.code))}"
        for one in shown.decisions
    ]


def _in_words(code: str) -> str:
    if code.startswith("VERDICT_"):
        return f"A person answered: {code.removeprefix('VERDICT_').replace('_', ' ').lower()}."
    return explain_code(code)


def _asked(shown: Shown) -> list[str]:
    question = shown.escalation
    if question is None:
        return []
    if question.closed_at is not None:
        note = "" if not question.note else f" ({plain(question.note)})"
        told = words.when(question.closed_at, shown.now)
        who, verdict = plain(question.closed_by), plain(question.verdict)
        return [f"The question was answered {told} by {who}: {verdict}{note}."]
    answers = "; ".join(f"{name}: {what}" for name, what in ANSWERS.items())
    return [
        f"A person is asked: outlive resolve {question.id} ANSWER. Answers: {answers}",
    ]


def _here(operation: Operation) -> str:
    match operation.state:
        case State.CREATED:
            return "Nothing has been sent yet; a worker sends it as soon as one runs."
        case State.CONFIRMED:
            return f"It took effect: {words.code(operation.reference)} at {operation.provider}."
        case State.FAILED:
            reason = operation.failure_code or "REJECTED"
            return f"It ended without effect: {plain(reason)}. {plain(_in_words(reason))}"
        case State.SENT:
            return _open_end(operation)


def _open_end(operation: Operation) -> str:
    if operation.never_send:
        return "It was given up: it stays as it is, is watched, and never leaves again."
    if operation.escalated:
        return "Nothing is sent before the question is answered."
    if operation.in_doubt:
        return "Whether it took effect is not known yet."
    return "It has been sent, and its end is not recorded yet."


def _next(operation: Operation, now: datetime) -> str:
    check = operation.next_check_at
    if check is None:
        return "Nothing more is planned."
    if operation.lease_until is not None:
        return f"A worker has it in hand, at the longest {words.when(operation.lease_until, now)}."
    what = "compared with the provider once more" if operation.final else "looked at again"
    if check <= now:
        return f"It is due to be {what}, by the next worker that runs."
    return f"It is {what} {words.when(check, now)}."

"""`outlive show`: one operation, whole. Nothing here needs the provider."""

from datetime import datetime
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from ledger.escalations import Escalation
from ledger.model import Attempt, Operation
from ledger.postgres.escalations import UnknownEscalation
from ledger.postgres.search_values import Decided, Told
from sidecar import words
from sidecar.books import Books, books
from sidecar.cli import as_json as document
from sidecar.cli.base import Cli, console, emit, json_option, run, table
from sidecar.cli.evidence import gather
from sidecar.cli.finding import find_operation
from sidecar.plain import plain
from telemetry.kept import kept
from telemetry.tree import render


@click.command()
@click.argument("operation")
@click.option("--evidence", is_flag=True, help="Traces, logs and history on one timeline.")
@json_option
@click.pass_obj
def show(cli: Cli, /, operation: str, *, evidence: bool, as_json: bool) -> None:
    """Show one operation: what was approved, each attempt, the history. Takes a unique prefix."""
    if evidence:
        timeline = run(gather(cli.settings(), operation))
        if as_json:
            emit(timeline.as_json())
        else:
            click.echo(render(timeline))
        return

    async def work() -> Shown:
        async with books(cli.settings()) as opened:
            return await read(opened, operation)

    shown = run(work())
    if as_json:
        emit(shown.document())
    else:
        _print(shown)


class Shown:
    """Everything that is known of one operation."""

    def __init__(
        self,
        operation: Operation,
        history: list[Told],
        decisions: list[Decided],
        escalation: Escalation | None,
        now: datetime,
    ) -> None:
        self.operation = operation
        self.history = history
        self.decisions = decisions
        self.escalation = escalation
        self.now = now

    def document(self) -> dict[str, Any]:
        """For programs."""
        question = self.escalation
        return {
            "operation": document.operation(self.operation),
            "escalation": None if question is None else document.escalation(question),
            "decisions": [document.decided(one) for one in self.decisions],
            "history": [document.told(one) for one in self.history],
        }


async def read(opened: Books, text: str) -> Shown:
    """Read one operation.

    Raises:
        UnknownOperation, AmbiguousId, InvalidInput: As `find_operation`.
    """
    operation_id = await find_operation(opened, text)
    operation = await opened.ledger.operation(operation_id)
    try:
        question = await opened.ledger.escalations.get(operation_id)
    except UnknownEscalation:
        question = None
    return Shown(
        operation,
        await opened.search.history(operation_id),
        await opened.search.decisions(operation_id),
        question,
        await opened.ledger.now(),
    )


def _print(shown: Shown) -> None:
    operation, now, out = shown.operation, shown.now, console()
    facts = table("", "")
    facts.show_header = False
    for name, value in _facts(operation, now):
        facts.add_row(Text(name, style="dim"), value)
    out.print(facts)
    if operation.attempts:
        out.print(_attempts(operation.attempts, now))
    if shown.escalation is not None:
        _print_question(shown.escalation, now)
    events = table("#", "WHEN", "WHAT", "WHO", "TOLD", title="\nHistory")
    for event in shown.history:
        payload = "(erased)" if event.payload is None else _told(event.payload)
        events.add_row(
            *(str(event.seq), words.clock(event.at, now), plain(event.kind), plain(event.actor)),
            payload,
        )
    out.print(events)


def _facts(operation: Operation, now: datetime) -> list[tuple[str, str | Text]]:
    permit = operation.authorization
    revoked = "" if permit.revoked_at is None else f"; REVOKED {words.when(permit.revoked_at, now)}"
    return [
        ("operation", str(operation.id)),
        (
            "state",
            words.state(
                of=operation.state,
                in_doubt=operation.in_doubt,
                escalated=operation.escalated,
                given_up=operation.never_send,
            ),
        ),
        ("what", f"{plain(operation.type)} {words.money(operation.subject.money)}"),
        ("on", f"{plain(operation.target)} ({'live' if operation.subject.livemode else 'test'})"),
        ("parameters", _told(operation.parameters)),
        ("item", f"{operation.item} of proposal {operation.proposal_id}"),
        ("authorization", f"{permit.id} by {plain(permit.decided_by)}{revoked}"),
        ("first send until", words.when(permit.authorized_until, now)),
        ("resends until", words.when(permit.resend_until, now)),
        ("request", f"SHA-256 {operation.request_digest}"),
        ("idempotency key", operation.idempotency_key),
        ("effect", words.code(operation.reference)),
        ("provider says", words.code(operation.provider_status)),
        ("reason", words.why(operation.state, operation.failure_code, operation.decision)),
        ("looked at again", words.when(operation.next_check_at, now)),
        ("case version", str(operation.case_version)),
    ]


def _attempts(attempts: tuple[Attempt, ...], now: datetime) -> Table:
    rows = table("#", "BEGAN", "BY", "OUTCOME", "CODE", "HTTP", "REQUEST", title="\nAttempts")
    for one in attempts:
        answer = one.answer
        outcome = "never answered" if answer is None else answer.outcome.value.replace("_", " ")
        rows.add_row(
            str(one.number),
            words.clock(one.started_at, now),
            plain(one.process),
            f"{outcome}{', late' if one.late else ''}",
            words.code(None if answer is None else answer.code),
            words.code(
                None if answer is None or answer.http_status is None else str(answer.http_status)
            ),
            words.code(None if answer is None else answer.request_id),
        )
    return rows


def _print_question(question: Escalation, now: datetime) -> None:
    out = console()
    reasons = ", ".join(plain(reason) for reason in question.reasons)
    out.print(f"\nQuestion {question.id}: {reasons}, opened {words.when(question.opened_at, now)}")
    if question.closed_at is None:
        out.print(f"  waits for an answer: outlive resolve {question.id} ANSWER")
    else:
        out.print(
            f"  answered {words.when(question.closed_at, now)} by {plain(question.closed_by)}: "
            f"{plain(question.verdict)} {plain(question.note or '')}".rstrip()
        )
    if question.evidence is not None:
        out.print("\nEvidence from outside the ledger, gathered after it was asked:")
        click.echo(render(kept(question.evidence)))


def _told(payload: Any) -> str:
    return plain(", ".join(f"{name}={value}" for name, value in dict(payload).items()))

"""`outlive escalations`, `claim` and `resolve`: what only a person can decide."""

from datetime import datetime
from typing import Any, Final

import click
from rich.text import Text

from ledger.escalations import Escalation
from ledger.model import Operation
from ledger.postgres.search import Search
from recovery.dossier import ANSWERS
from recovery.verdicts import AnswerGiven, Resolved, Verdict
from recovery.words import explain
from sidecar import words
from sidecar.books import Books, books
from sidecar.cli import as_json as document
from sidecar.cli.authorizing import a_span
from sidecar.cli.base import Cli, by_option, console, emit, json_option, run, table
from sidecar.cli.finding import find_escalation
from sidecar.cli.reading import a_time
from sidecar.plain import plain
from sidecar.wiring import open_system
from sidecar.worker.identity import passing_worker
from telemetry.kept import kept
from telemetry.timeline import Timeline

_SHOWN: Final = 100


@click.command()
@json_option
@click.pass_obj
def escalations(cli: Cli, /, *, as_json: bool) -> None:
    """List open questions, by what is lost first: key window, money, age."""

    async def work() -> tuple[list[Escalation], datetime]:
        async with books(cli.settings()) as opened:
            found = await opened.ledger.escalations.open_ones(limit=_SHOWN)
            return found, await opened.ledger.now()

    found, now = run(work())
    if as_json:
        emit({"escalations": [document.escalation(one) for one in found]})
        return
    out = console()
    if not found:
        out.print("No question is open.")
        return
    for one in found:
        _print_question(one, now)
    out.print(Text("\nAnswers:", style="bold"))
    for name, told in ANSWERS.items():
        out.print(f"  {name}: {told}")


def _print_question(one: Escalation, now: datetime) -> None:
    out = console()
    about = (
        f"operation {one.operation_id}" if one.operation_id else f"{len(one.members)} operations"
    )
    out.print(Text(f"{one.id}  {words.money(one.money)}", style="bold"))
    facts = table("", "")
    facts.show_header = False
    facts.add_row("about", f"{about} at {plain(one.provider)}/{plain(one.account)}")
    for reason in one.reasons:
        facts.add_row("why", f"{plain(reason)}: {plain(explain(reason))}")
    facts.add_row("opened", words.when(one.opened_at, now))
    if one.window_ends_at is not None:
        facts.add_row("key window ends", words.when(one.window_ends_at, now))
    if one.claimed_by is not None and one.claimed_until is not None:
        facts.add_row("on it", f"{plain(one.claimed_by)}, {words.when(one.claimed_until, now)}")
    for effect in one.dossier.get("provider", {}).get("effects", ()):
        facts.add_row("provider shows", plain(_effect(effect)))
    if one.evidence is not None:
        facts.add_row("evidence", _gathered(kept(one.evidence)))
    out.print(facts)


def _gathered(timeline: Timeline) -> str:
    missing = "; ".join(plain(gap.text) for gap in timeline.gaps)
    told = f"{len(timeline.entries)} spans and records: outlive show {timeline.operation_id}"
    return f"{told}; missing: {missing}" if missing else told


def _effect(effect: dict[str, Any]) -> str:
    marker = effect.get("carries_our_id")
    whose = "without our id" if marker is None else f"with the id of {marker}"
    return (
        f"{effect.get('reference')} {effect.get('status')} {effect.get('amount_minor')} "
        f"{effect.get('currency')} (minor units), {whose}"
    )


@click.command()
@click.argument("question")
@click.option("--for", "span", default="30m", show_default=True, help="How long you are on it.")
@by_option
@click.pass_obj
def claim(cli: Cli, /, question: str, *, span: str, by: str) -> None:
    """Say that you are on QUESTION (its id, or its operation's), so that nobody else is."""
    length = a_span(span)

    async def work() -> tuple[datetime, datetime]:
        async with books(cli.settings()) as opened:
            found = await find_escalation(opened, question)
            until = await opened.ledger.escalations.claim(
                found.id, by=by, for_s=length.total_seconds()
            )
            return until, await opened.ledger.now()

    until, now = run(work())
    console().print(f"Yours until {words.clock(until, now)}.")


_EPILOG: Final = "\b\nAnswers:\n" + "\n".join(f"  {name}: {told}" for name, told in ANSWERS.items())


@click.command(epilog=_EPILOG)
@click.argument("question")
@click.argument("answer", type=click.Choice([verdict.value for verdict in Verdict]))
@click.option("--reference", help="The effect at the provider (re_…).")
@click.option("--note", default="", help="For the record.")
@click.option("--until", help="With wait: until when (ISO 8601 with a zone).")
@click.option("--case", "case_version", type=int, help="The case version that you read.")
@by_option
@json_option
@click.pass_obj
def resolve(cli: Cli, /, question: str, answer: str, *, as_json: bool, **given: Any) -> None:
    """Answer QUESTION (its id, or its operation's). The provider is asked before it counts."""
    told = AnswerGiven(
        verdict=Verdict(answer),
        by=given["by"],
        note=given["note"],
        reference=given["reference"],
        until=a_time(given["until"]),
        expected_case_version=given["case_version"],
    )
    settings = cli.settings()

    async def work() -> Resolved | None:
        async with open_system(settings) as system, Search(system.ledger.database) as search:
            found = await find_escalation(Books(system.ledger, search), question)
            if found.operation_id is None and told.verdict is Verdict.SEEN:
                await system.ledger.escalations.close(
                    found.id, by=told.by, verdict=told.verdict.value, note=told.note
                )
                return None
            worker = passing_worker(settings.identity)
            return await system.verdicts(worker).resolve(found, told)

    resolved = run(work())
    operation = None if resolved is None else resolved.operation
    if as_json:
        emit({"operation": None if operation is None else document.operation(operation)})
    else:
        console().print(_told(operation))


def _told(operation: Operation | None) -> str:
    if operation is None:
        return "Answered: the question is closed."
    state = words.state(
        of=operation.state,
        in_doubt=operation.in_doubt,
        escalated=operation.escalated,
        given_up=operation.never_send,
    )
    return f"Answered: {operation.id} is now {state.plain} ({words.code(operation.reference)})."

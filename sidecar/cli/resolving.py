"""`outlive resolve`, `unsign`: a person's answer, or the first of two signatures."""

from typing import Any, Final

import click

from ledger.model import Operation
from ledger.postgres.search import Search
from recovery.dossier import ANSWERS
from recovery.verdicts import AnswerGiven, Verdict
from sidecar import words
from sidecar.books import Books, books
from sidecar.cli import as_json as document
from sidecar.cli.base import Cli, by_option, console, emit, json_option, run
from sidecar.cli.finding import find_escalation
from sidecar.cli.reading import a_time
from sidecar.proposals.policy_file import PolicyFile
from sidecar.wiring import open_system
from sidecar.worker.identity import passing_worker

_SIGNED: Final = (
    "Signed: 1 of 2. Nothing was changed or sent. Another person must give the same answer on the "
    "same case; until then `outlive unsign` takes yours back."
)
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

    async def work() -> tuple[Operation | None, bool]:
        async with open_system(settings) as system, Search(system.ledger.database) as search:
            found = await find_escalation(Books(system.ledger, search), question)
            worker = passing_worker(settings.identity)
            verdicts = system.verdicts(worker, PolicyFile(settings.policy))
            if found.operation_id is None and told.verdict is Verdict.SEEN:
                return None, not await verdicts.close(found, by=told.by, note=told.note)
            resolved = await verdicts.resolve(found, told)
            return resolved.operation, resolved.signed

    operation, signed = run(work())
    if as_json:
        shown = None if operation is None else document.operation(operation)
        emit({"taken": "signed" if signed else "answered", "operation": shown})
    else:
        console().print(_SIGNED if signed else _told(operation))


@click.command()
@click.argument("question")
@by_option
@click.pass_obj
def unsign(cli: Cli, /, question: str, *, by: str) -> None:
    """Take back the answer that you signed to QUESTION, until a second person has given it."""

    async def work() -> None:
        async with books(cli.settings()) as opened:
            found = await find_escalation(opened, question)
            await opened.ledger.answers.withdraw(found.id, found.operation_id, by=by)

    run(work())
    console().print("Taken back. The question is open as before.")


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

"""`outlive claim` and `ask`: who is on a question, and what the provider says now."""

from datetime import datetime

import click

from ledger.postgres.search import Search
from recovery.asking import Asked
from sidecar import words
from sidecar.books import Books, books
from sidecar.cli import as_json as document
from sidecar.cli.authorizing import a_span
from sidecar.cli.base import Cli, by_option, console, emit, json_option, run
from sidecar.cli.finding import find_escalation
from sidecar.plain import plain
from sidecar.wiring import open_system


@click.command()
@click.argument("question")
@click.option(
    "--for", "span", default="30m", show_default=True, help="How long, or how much longer."
)
@click.option("--extend", "how", flag_value="extend", help="Stay on it so much longer.")
@click.option("--release", "how", flag_value="release", help="Let go of it; others are paged.")
@by_option
@click.pass_obj
def claim(cli: Cli, /, question: str, *, span: str, how: str | None, by: str) -> None:
    """Say that you are on QUESTION (its id, or its operation's), so that nobody else is."""
    length_s = a_span(span).total_seconds()

    async def work() -> tuple[datetime | None, datetime]:
        async with books(cli.settings()) as opened:
            found = await find_escalation(opened, question)
            asked = opened.ledger.escalations
            until: datetime | None = None
            match how:
                case "release":
                    await asked.release(found.id, by=by)
                case "extend":
                    until = await asked.extend(found.id, by=by, for_s=length_s)
                case _:
                    until = await asked.claim(found.id, by=by, for_s=length_s)
            return until, await opened.ledger.now()

    until, now = run(work())
    if until is None:
        console().print("Released. Nobody is on it now, and people are paged again.")
    else:
        console().print(f"Yours until {words.clock(until, now)}; then people are paged again.")


@click.command()
@click.argument("question")
@by_option
@json_option
@click.pass_obj
def ask(cli: Cli, /, question: str, *, by: str, as_json: bool) -> None:
    """Ask the provider about QUESTION again; at most once in 10 s. Decides nothing."""
    settings = cli.settings()

    async def work() -> tuple[Asked, datetime]:
        async with open_system(settings) as system, Search(system.ledger.database) as search:
            found = await find_escalation(Books(system.ledger, search), question)
            return await system.asking().ask(found, by=by), await system.ledger.now()

    asked, now = run(work())
    if as_json:
        emit({**asked.as_json(), "answered_at": document.moment(asked.answered_at)})
        return
    out = console()
    if asked.trouble is None:
        out.print(f"The provider says: {plain(asked.seen.replace('_', ' '))}.")
        for effect in asked.effects:
            out.print(f"  {plain(effect.reference)} {plain(effect.provider_status)}")
    else:
        last = words.clock(asked.answered_at, now) if asked.answered_at else "none so far"
        out.print(f"The provider did not answer ({plain(asked.trouble)}). Last answer: {last}.")
    for answer, why in asked.locked.items():
        out.print(f"  can't be answered now: {answer}: {plain(why)}")

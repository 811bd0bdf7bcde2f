"""`outlive ops`: what is in the ledger. Nothing here needs the provider."""

from datetime import datetime
from typing import Any

import click

from ledger.errors import InvalidInput
from ledger.model import State
from ledger.postgres.search_values import Filters, Page, Totals
from sidecar import words
from sidecar.books import books
from sidecar.cli import as_json as document
from sidecar.cli.base import Cli, console, emit, json_option, run, table
from sidecar.plain import plain


@click.command()
@click.option("--state", "states", multiple=True, type=click.Choice([s.value for s in State]))
@click.option("--in-doubt", is_flag=True, help="Only those nobody knows about.")
@click.option("--escalated", is_flag=True, help="Only those before a person.")
@click.option("--type", "kind", help="Only this operation type.")
@click.option("--target", help="Only this target (account/object).")
@click.option("--reference", help="Only with this effect at the provider (re_…).")
@click.option("--since", help="Only created then or later (ISO 8601 with a zone).")
@click.option("--until", help="Only created before (ISO 8601 with a zone).")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 500))
@click.option("--cursor", help="Where the page before ended.")
@json_option
@click.pass_obj
def ops(cli: Cli, /, *, as_json: bool, limit: int, cursor: str | None, **asked: Any) -> None:
    """List operations, the newest first."""
    filters = Filters(
        states=frozenset(State(state) for state in asked["states"]),
        type=asked["kind"],
        target=asked["target"],
        reference=asked["reference"],
        in_doubt=asked["in_doubt"] or None,
        escalated=asked["escalated"] or None,
        since=a_time(asked["since"]),
        until=a_time(asked["until"]),
    )

    async def work() -> tuple[Page, Totals, datetime]:
        async with books(cli.settings()) as opened:
            page = await opened.search.find_operations(filters, limit=limit, cursor=cursor)
            return page, await opened.search.totals(), await opened.ledger.now()

    page, totals, now = run(work())
    if as_json:
        emit({"operations": [document.line(line) for line in page.lines], "cursor": page.cursor})
    else:
        _print_page(page, totals, now)


def a_time(text: str | None) -> datetime | None:
    """Read a time that names its zone.

    Raises:
        InvalidInput: It is none, or names no zone.
    """
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(f"{plain(text)!r} is no time; write 2026-11-30T12:00:00+01:00") from None
    if moment.tzinfo is None:
        raise InvalidInput(f"{plain(text)!r} names no zone; write 2026-11-30T12:00:00+01:00")
    return moment


def _print_page(page: Page, totals: Totals, now: datetime) -> None:
    shown = table(
        "OPERATION", "TYPE", "TARGET", "AMOUNT", "STATE", "TRIED", "WHY", "LOOKED AT AGAIN"
    )
    shown.columns[0].no_wrap = True
    shown.columns[3].justify = "right"
    for line in page.lines:
        shown.add_row(
            str(line.id),
            plain(line.type),
            plain(line.target),
            words.money(line.money),
            words.state(
                of=line.state,
                in_doubt=line.in_doubt,
                escalated=line.escalated,
                given_up=line.never_send,
            ),
            str(line.attempt_count),
            words.why(line.state, line.failure_code, line.decision),
            words.when(line.next_check_at, now),
        )
    out = console()
    out.print(shown)
    counts = ", ".join(f"{count:,} {state.value}" for state, count in totals.by_state.items())
    out.print(f"in the ledger: {counts}; {totals.open_escalations:,} open question(s)")
    if page.cursor is not None:
        out.print(f"more: --cursor {page.cursor}")

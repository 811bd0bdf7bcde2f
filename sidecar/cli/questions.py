"""`outlive escalations`: what only a person can decide, and what the questions come from."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import click
from rich.text import Text

from ledger.escalations import Escalation, Signature
from ledger.model import Money
from recovery.causes import Cause, causes
from recovery.dossier import ANSWERS
from recovery.words import explain
from sidecar import words
from sidecar.books import books
from sidecar.cli import as_json as document
from sidecar.cli.base import Cli, console, emit, json_option, run, table
from sidecar.plain import plain
from telemetry.kept import kept
from telemetry.timeline import Timeline

_SHOWN: Final = 100


@click.command()
@json_option
@click.pass_obj
def escalations(cli: Cli, /, *, as_json: bool) -> None:
    """List open questions, by what is lost first: key window, money, age."""

    async def work() -> tuple[list[Escalation], list[Signature], datetime]:
        async with books(cli.settings()) as opened:
            found = await opened.ledger.escalations.open_ones(limit=_SHOWN)
            signed = await opened.ledger.answers.signatures([one.id for one in found])
            return found, signed, await opened.ledger.now()

    found, signed, now = run(work())
    if as_json:
        emit(
            {
                "escalations": [document.escalation(one) for one in found],
                "signatures": [document.signature(one) for one in signed],
                "causes": [document.cause(one) for one in causes(found)],
            }
        )
        return
    out = console()
    if not found:
        out.print("No question is open.")
        return
    for one in found:
        _print_question(one, [by for by in signed if by.escalation_id == one.id], now)
    for cause in causes(found):
        if cause.count > 1:
            out.print(f"{_cause(cause, now)}: outlive answer-many answers them together.")
    out.print(Text("\nAnswers:", style="bold"))
    for name, told in ANSWERS.items():
        out.print(f"  {name}: {told}")


def _cause(cause: Cause, now: datetime) -> str:
    sums = " and ".join(words.money(Money(total, unit)) for unit, total in cause.sums.items())
    span = f"{words.clock(cause.since, now)} to {words.clock(cause.until, now)}"
    silent = f" was silent, {span}" if cause.silent else f", {span}"
    where = f"{plain(cause.provider)}/{plain(cause.account)}"
    return f"One cause: {where}{silent}. {cause.count} questions, {sums or 'no money'}"


def _print_question(one: Escalation, signed: Sequence[Signature], now: datetime) -> None:
    out = console()
    out.print(Text(f"{one.id}  {words.money(one.money)}", style="bold"))
    facts = table("", "")
    facts.show_header = False
    facts.add_row("about", f"{_about(one)} at {plain(one.provider)}/{plain(one.account)}")
    for reason in one.reasons:
        facts.add_row("why", f"{plain(reason)}: {plain(explain(reason))}")
    facts.add_row("opened", words.when(one.opened_at, now))
    if one.window_ends_at is not None:
        facts.add_row("key window ends", words.when(one.window_ends_at, now))
    if one.claimed_by is not None and one.claimed_until is not None:
        facts.add_row("on it", f"{plain(one.claimed_by)}, {words.when(one.claimed_until, now)}")
    for by in signed:
        void = "" if by.counts else " (void: the case has changed since)"
        facts.add_row(
            "signed",
            f"{plain(by.answer['verdict'])} by {plain(by.signer)}, "
            f"{words.when(by.signed_at, now)}{void}; another person must give the same answer",
        )
    for effect in one.dossier.get("provider", {}).get("effects", ()):
        facts.add_row("provider shows", plain(_effect(effect)))
    if one.evidence is not None:
        facts.add_row("evidence", _gathered(kept(one.evidence)))
    out.print(facts)


def _about(one: Escalation) -> str:
    """One operation, an effect that no operation asked for, or all that wait for an account."""
    if one.operation_id is not None:
        return f"operation {one.operation_id}"
    if one.scope == "effect":
        return f"effect {plain(one.reference)}"
    return f"{len(one.members)} operation{'' if len(one.members) == 1 else 's'}"


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

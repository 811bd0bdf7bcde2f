"""What the demo shows at its end: each operation, the two books side by side, one explanation."""

from collections.abc import Sequence
from typing import Any, Final

from rich.console import Console, Group
from rich.text import Text

from ledger.model import Money, Operation, State
from sidecar import words
from sidecar.cli.base import table
from sidecar.demo.data import CURRENCY, Fate
from sidecar.demo.judge import Played, Verdict, fate_of
from sidecar.demo.story import Told
from sidecar.plain import plain

_WORDS: Final = {
    Fate.FINISH: "the answer was lost; recovery found the effect: finished",
    Fate.WAIT: "nothing to be seen at first; recovery waited, then found the effect: finished",
    Fate.RESEND: "the request was lost; proven without effect: resent under the same key",
    Fate.ESCALATE: "an effect without our marker: a person was asked, and answered",
}


def show(console: Console, told: Told, verdicts: Sequence[Verdict]) -> None:
    """Print the tables."""
    played = told.played
    console.print(_operations(played))
    console.print(_books(played))
    claims = table("", "THE PROMISE", "FOUND", title="\nOn this run")
    for verdict in verdicts:
        mark = Text("held", style="green") if verdict.holds else Text("BROKEN", style="bold red")
        claims.add_row(mark, verdict.claim, plain(verdict.found))
    console.print(claims)


def _operations(played: Played) -> Any:
    rows = table("#", "ON", "AMOUNT", "STATE", "SENDS", "EFFECT", "WHAT HAPPENED, AND WHY")
    rows.title = "\nOperations"
    rows.columns[2].justify = "right"
    for operation in played.operations:
        rows.add_row(
            str(operation.item),
            plain(operation.subject.object_id),
            words.money(operation.subject.money),
            words.state(
                of=operation.state,
                in_doubt=operation.in_doubt,
                escalated=operation.escalated,
                given_up=operation.never_send,
            ),
            str(len(operation.attempts)),
            words.code(operation.reference),
            _story(operation, played),
        )
    return rows


def _story(operation: Operation, played: Played) -> str:
    decisions = played.decisions[operation.id]
    fate = fate_of(decisions, asked=operation.id in played.asked)
    codes = " → ".join(plain(decision.code) for decision in decisions)
    if fate is not None:
        return f"{_WORDS[fate]} ({codes})"
    by_first = any(a.process.startswith(played.killed) for a in operation.attempts)
    return (
        "sent by the first process, answered"
        if by_first
        else "left by the first process; sent by the second"
    )


def _books(played: Played) -> Group:
    rows = table("", "OPERATIONS", "SUM", title="\nThe ledger and the provider's own journal")
    confirmed = [o for o in played.operations if o.state is State.CONFIRMED]
    keys = [effect["idempotency_key"] for effect in played.journal]
    twice = len(keys) - len(set(keys))
    rows.add_row("approved", str(len(played.operations)), _sum(played.operations))
    rows.add_row("confirmed in the ledger", str(len(confirmed)), _sum(confirmed))
    took = words.money(Money(sum(e["amount"] for e in played.journal), CURRENCY))
    rows.add_row("took effect at the provider", str(len(played.journal)), took)
    rows.add_row("took effect twice", str(twice), "" if twice else "none")
    return Group(rows)


def _sum(operations: Sequence[Operation]) -> str:
    total = sum(0 if o.subject.money is None else o.subject.money.amount_minor for o in operations)
    return words.money(Money(total, CURRENCY))


def document(told: Told, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The same for programs."""
    played = told.played
    keys = [effect["idempotency_key"] for effect in played.journal]
    return {
        "held": all(verdict.holds for verdict in verdicts),
        "home": str(told.home),
        "approved": len(played.operations),
        "took_effect": len(played.journal),
        "took_effect_twice": len(keys) - len(set(keys)),
        "took_effect_minor": sum(effect["amount"] for effect in played.journal),
        "currency": CURRENCY,
        "states": {
            state.value: sum(o.state is state for o in played.operations) for state in State
        },
        "fates": {
            fate.value: sum(
                fate_of(played.decisions[o.id], asked=o.id in played.asked) is fate
                for o in played.operations
            )
            for fate in Fate
        },
        "promise": [
            {"claim": verdict.claim, "holds": verdict.holds, "found": verdict.found}
            for verdict in verdicts
        ],
        "commands": [{"command": said.command, "exit_code": said.exit_code} for said in told.said],
    }

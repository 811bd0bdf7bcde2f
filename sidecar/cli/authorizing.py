"""`outlive authorize` and `outlive revoke`: a person's word, before and after."""

import re
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import click

from ledger.commands import Authorized, Revocation
from ledger.errors import InvalidInput
from ledger.model import Money, Operation
from ledger.postgres.switches import Brake
from sidecar import words
from sidecar.cli import as_json as document
from sidecar.cli.base import Cli, an_id, by_option, console, emit, json_option, run
from sidecar.inquiries import Inquiries
from sidecar.plain import plain
from sidecar.proposals.authorizing import Wanted
from sidecar.proposals.authorizing import authorize as authorize_batch
from sidecar.proposals.batch import read_batch
from sidecar.proposals.held_back import as_text as held_text
from sidecar.proposals.held_back import holding_back
from sidecar.wiring import open_ledger, open_system

_SPAN: Final = re.compile(r"([1-9][0-9]{0,5})(s|m|h|d)")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_LONGEST: Final = timedelta(days=30)


def a_span(text: str) -> timedelta:
    """Read a length of time: `90s`, `30m`, `1h`, `2d`.

    Raises:
        InvalidInput: It is none, or longer than 30 days.
    """
    found = _SPAN.fullmatch(text)
    if found is None:
        raise InvalidInput(f"{plain(text)!r} is no length of time; write 90s, 30m, 1h or 2d")
    span = timedelta(**{_UNITS[found[2]]: int(found[1])})
    if span > _LONGEST:
        raise InvalidInput(f"{text} is too long: an authorization holds for at most 30 days")
    return span


@click.command()
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--type", "kind", required=True, help="Operation type, e.g. stripe.refund.")
@click.option("--key", required=True, help="Your name for this request: repeating it is harmless.")
@click.option("--valid", default="1h", show_default=True, help="How long a first send may wait.")
@click.option(
    "--separate", multiple=True, type=int, help="An item that is meant, look-alike or not."
)
@click.option("--reason", default="", help="Why, for the record.")
@by_option
@json_option
@click.pass_obj
def authorize(cli: Cli, /, *, file: Path, as_json: bool, **given: Any) -> None:
    """Authorize the operations in FILE (JSON Lines, one item a line; - for standard input).

    All of them or none. A worker sends them.
    """
    key: str = given["key"]
    if not key.strip() or plain(key) != key:
        raise click.BadParameter("use visible characters", param_hint="--key")
    wanted = Wanted(
        kind=given["kind"],
        batch=read_batch(file, sys.stdin.buffer),
        key=key,
        by=given["by"],
        reason=given["reason"],
        valid=a_span(given["valid"]),
        separate=given["separate"],
    )

    async def work() -> tuple[Authorized, list[Operation], list[Brake]]:
        async with open_system(cli.settings()) as system:
            made = await authorize_batch(system, wanted)
            brakes = holding_back(await system.ledger.switches.brakes(), type_name=wanted.kind)
            return made, await system.ledger.operations(made.operation_ids), brakes

    made, operations, brakes = run(work())
    operations.sort(key=lambda operation: operation.item)
    if as_json:
        emit(
            {
                "authorization_id": str(made.authorization_id),
                "proposal_id": str(made.proposal_id),
                "repeated": made.repeated,
                "operations": [document.operation(operation) for operation in operations],
                "held_back": [one.scope for one in brakes],
            }
        )
        return
    out = console()
    began = "Authorized before, unchanged" if made.repeated else "Authorized"
    out.print(f"{began}: {len(operations):,} operations, {' and '.join(sums(operations))}")
    out.print(f"authorization {made.authorization_id}")
    held = held_text(brakes)
    if held is not None:
        out.print(plain(held))
    out.print("A worker sends them (`outlive worker`); `outlive ops` shows how far they are.")


def sums(operations: Sequence[Operation]) -> list[str]:
    """The money that they move, one sum a currency."""
    totals: dict[str, int] = {}
    for operation in operations:
        amount = operation.subject.money
        if amount is not None:
            totals[amount.currency] = totals.get(amount.currency, 0) + amount.amount_minor
    return [words.money(Money(total, currency)) for currency, total in sorted(totals.items())] or [
        "no money"
    ]


@click.command()
@click.argument("authorization")
@click.option("--reason", required=True, help="Why, for the record.")
@by_option
@json_option
@click.pass_obj
def revoke(cli: Cli, /, authorization: str, *, by: str, reason: str, as_json: bool) -> None:
    """End AUTHORIZATION: stop what has not left, and say what had."""
    authorization_id = an_id(authorization, "an authorization")

    async def work() -> tuple[Revocation, list[Operation]]:
        async with open_ledger(cli.settings()) as ledger:
            await Inquiries(ledger).require_authorization(authorization_id)
            ended = await ledger.revoke(authorization_id, by=by, reason=reason)
            return ended, await ledger.operations([*ended.stopped, *ended.had_left])

    ended, operations = run(work())
    if as_json:
        emit(
            {
                "stopped": [str(one) for one in ended.stopped],
                "had_left": [str(one) for one in ended.had_left],
                "stopped_sums": dict(ended.stopped_sums),
                "left_sums": dict(ended.left_sums),
            }
        )
        return
    out = console()
    by_id = {operation.id: operation for operation in operations}
    stopped = [by_id[one] for one in ended.stopped]
    left = [by_id[one] for one in ended.had_left]
    out.print(f"Stopped: {len(stopped):,} that had not left, {' and '.join(sums(stopped))}")
    out.print(f"Had left already: {len(left):,}, {' and '.join(sums(left))}")
    for operation in left:
        out.print(
            f"  {operation.id} {operation.state.value} {words.money(operation.subject.money)} "
            f"{plain(operation.target)}"
        )

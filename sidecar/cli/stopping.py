"""`outlive brake`: stop sending in a scope. Look-ups go on; what has left can't be stopped."""

import re
from datetime import datetime
from typing import Final

import click

from ledger.errors import InvalidInput
from ledger.postgres.switches import Brake
from sidecar import words
from sidecar.cli import as_json as document
from sidecar.cli.base import Cli, by_option, console, emit, json_option, run, table
from sidecar.plain import plain
from sidecar.wiring import open_ledger

_SCOPE: Final = re.compile(r"all|provider:[a-z][a-z0-9_]{0,63}|type:[a-z][a-z0-9_.]{0,127}")


@click.group()
def brake() -> None:
    """Stop sending in a scope: all, provider:stripe or type:stripe.refund."""


def _scope(text: str) -> str:
    if not _SCOPE.fullmatch(text):
        raise InvalidInput(f"{plain(text)!r} is no scope; use all, provider:NAME or type:NAME")
    return text


@brake.command("on")
@click.argument("scope")
@click.option("--reason", required=True, help="Why, for those who find it on.")
@by_option
@click.pass_obj
def brake_on(cli: Cli, /, scope: str, *, reason: str, by: str) -> None:
    """Let nothing leave in SCOPE until somebody releases it."""
    checked = _scope(scope)

    async def work() -> None:
        async with open_ledger(cli.settings()) as ledger:
            await ledger.switches.set_brake(checked, by=by, reason=reason)

    run(work())
    console().print(f"The brake is on for {checked}. What has left already can't be stopped.")


@brake.command("off")
@click.argument("scope")
@click.pass_obj
def brake_off(cli: Cli, /, scope: str) -> int:
    """Let SCOPE go on."""
    checked = _scope(scope)

    async def work() -> bool:
        async with open_ledger(cli.settings()) as ledger:
            return await ledger.switches.release_brake(checked)

    released = run(work())
    told = "is off" if released else "was not on"
    console().print(f"The brake {told} for {checked}.")
    return 0 if released else 1


@brake.command("list")
@json_option
@click.pass_obj
def brake_list(cli: Cli, /, *, as_json: bool) -> None:
    """List the brakes that are on."""

    async def work() -> tuple[list[Brake], datetime]:
        async with open_ledger(cli.settings()) as ledger:
            return await ledger.switches.brakes(), await ledger.now()

    brakes, now = run(work())
    if as_json:
        emit(
            {
                "brakes": [
                    {
                        "scope": one.scope,
                        "set_by": one.set_by,
                        "reason": one.reason,
                        "set_at": document.moment(one.set_at),
                    }
                    for one in brakes
                ]
            }
        )
        return
    if not brakes:
        console().print("No brake is on.")
        return
    shown = table("SCOPE", "SINCE", "BY", "WHY")
    for one in brakes:
        since = words.when(one.set_at, now)
        shown.add_row(plain(one.scope), since, plain(one.set_by), plain(one.reason))
    console().print(shown)

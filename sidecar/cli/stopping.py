"""`outlive brake`: stop sending in a scope. Look-ups go on; what has left can't be stopped."""

from datetime import datetime

import click

from dispatcher.providers.stripe import TYPE_NAMES
from ledger.postgres.switches import Brake
from sidecar import words
from sidecar.cli import as_json as document
from sidecar.cli.base import Cli, by_option, console, emit, json_option, run, table
from sidecar.inquiries import Inquiries
from sidecar.plain import plain
from sidecar.scopes import a_scope, must_stop_something
from sidecar.wiring import open_ledger


@click.group()
def brake() -> None:
    """Stop sending in a scope: all, provider:stripe or type:stripe.refund."""


@brake.command("on")
@click.argument("scope")
@click.option("--reason", required=True, help="Why, for those who find it on.")
@by_option
@click.pass_obj
def brake_on(cli: Cli, /, scope: str, *, reason: str, by: str) -> None:
    """Let nothing leave in SCOPE until somebody releases it."""
    checked = a_scope(scope)

    async def work() -> None:
        async with open_ledger(cli.settings()) as ledger:
            in_flight = await Inquiries(ledger).in_flight()
            must_stop_something(checked, [*TYPE_NAMES, *(one.type for one in in_flight)])
            await ledger.switches.set_brake(checked, by=by, reason=reason)

    run(work())
    console().print(f"The brake is on for {checked}. What has left already can't be stopped.")


@brake.command("off")
@click.argument("scope")
@by_option
@click.pass_obj
def brake_off(cli: Cli, /, scope: str, *, by: str) -> int:
    """Let SCOPE go on."""
    checked = a_scope(scope)

    async def work() -> bool:
        async with open_ledger(cli.settings()) as ledger:
            return await ledger.switches.release_brake(checked, by=by)

    released = run(work())
    if not released:
        console().print(f"The brake was not on for {checked}.")
        return 1
    console().print(
        f"The brake is off for {checked}. What it held back goes on when it is next looked at, "
        "within 10 minutes; `outlive ops` says when."
    )
    return 0


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

"""`outlive token`: who may come in through the doors."""

from datetime import datetime
from typing import Final

import click
from rich.text import Text

from sidecar import words
from sidecar.access.roles import Role
from sidecar.access.tokens import DAY_S, NewToken, Token, Tokens
from sidecar.cli import as_json as document
from sidecar.cli.base import Cli, an_id, by_option, console, emit, json_option, run, table
from sidecar.console.links import Links
from sidecar.plain import plain
from sidecar.wiring import open_ledger

_SHOWN: Final = 200


@click.group()
def token() -> None:
    """Who may come in: an agent or a person by name, with one role."""


@token.command("create")
@click.argument("name")
@click.option("--role", required=True, type=click.Choice([role.value for role in Role]))
@click.option("--days", type=click.IntRange(1, 366), default=90, show_default=True)
@by_option
@json_option
@click.pass_obj
def token_create(cli: Cli, /, name: str, *, role: str, days: int, by: str, as_json: bool) -> None:
    """Make a token for NAME; its secret is shown now, and never again."""
    new = NewToken(name, Role(role), by, lasts_s=days * DAY_S)

    async def work() -> tuple[Token, str]:
        async with open_ledger(cli.settings()) as ledger:
            return await Tokens(ledger.pool).create(new)

    made, secret = run(work())
    if as_json:
        emit({**_document(made), "secret": secret})
        return
    out = console()
    out.print(Text(secret, style="bold"), soft_wrap=True)
    out.print(f"For {made.name} ({made.role.value}), until {document.moment(made.expires_at)}.")
    out.print("It is shown this once. Send it as `Authorization: Bearer …`.")


@token.command("list")
@json_option
@click.pass_obj
def token_list(cli: Cli, /, *, as_json: bool) -> None:
    """List tokens, the newest first; no secret is ever shown."""

    async def work() -> tuple[list[Token], datetime]:
        async with open_ledger(cli.settings()) as ledger:
            return await Tokens(ledger.pool).listing(limit=_SHOWN), await ledger.now()

    found, now = run(work())
    if as_json:
        emit({"tokens": [_document(one) for one in found]})
        return
    shown = table("ID", "NAME", "ROLE", "MADE BY", "ENDS", "LAST USED")
    for one in found:
        ends = one.revoked_at or one.expires_at
        shown.add_row(
            str(one.id),
            plain(one.name),
            one.role.value,
            plain(one.created_by),
            words.when(ends, now) + (" (revoked)" if one.revoked_at is not None else ""),
            words.when(one.used_at, now),
        )
    console().print(shown if found else "No token exists.")


@token.command("revoke")
@click.argument("token_id", metavar="TOKEN")
@by_option
@click.pass_obj
def token_revoke(cli: Cli, /, token_id: str, *, by: str) -> None:
    """End TOKEN (its id): serving processes refuse it within a few seconds."""
    wanted = an_id(token_id, "a token")

    async def work() -> Token:
        async with open_ledger(cli.settings()) as ledger:
            return await Tokens(ledger.pool).revoke(wanted, by=by)

    ended = run(work())
    console().print(f"The token of {plain(ended.name)} ({ended.role.value}) is revoked.")


@token.command("link")
@click.argument("name")
@click.pass_obj
def token_link(cli: Cli, /, name: str) -> None:
    """Make a link that signs NAME in to the console, once, within 15 minutes."""
    settings = cli.settings()

    async def work() -> tuple[str, datetime, datetime]:
        async with open_ledger(settings) as ledger:
            path, until = await Links(ledger.pool).create(name)
            return path, until, await ledger.now()

    path, until, now = run(work())
    host = f"[{settings.http_host}]" if ":" in settings.http_host else settings.http_host
    console().print(
        Text((settings.public_url or f"http://{host}:{settings.http_port}").rstrip("/") + path),
        soft_wrap=True,
    )
    console().print(f"For {plain(name)}. It works once, {words.when(until, now)}.")


def _document(one: Token) -> dict[str, object]:
    return {
        "id": str(one.id),
        "name": one.name,
        "role": one.role.value,
        "created_by": one.created_by,
        "created_at": document.moment(one.created_at),
        "expires_at": document.moment(one.expires_at),
        "revoked_at": document.moment(one.revoked_at),
        "used_at": document.moment(one.used_at),
        "once": one.once,
    }

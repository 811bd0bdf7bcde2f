"""`outlive people`: which Slack account is whose."""

from dataclasses import asdict

import click

from sidecar.access.people import People, Person
from sidecar.cli.base import Cli, console, emit, json_option, run, table
from sidecar.plain import plain
from sidecar.wiring import open_ledger


@click.group()
def people() -> None:
    """Whose Slack account is whose; deciding also takes a token of that name."""


@people.command("add")
@click.argument("name")
@click.option("--slack", "slack_id", required=True, help="Their Slack member id, e.g. U024BE7LH.")
@click.pass_obj
def people_add(cli: Cli, /, name: str, slack_id: str) -> None:
    """Say that a Slack account is NAME's."""

    async def work() -> bool:
        async with open_ledger(cli.settings()) as ledger:
            known = People(ledger.pool)
            await known.put(name, slack_id)
            return any(one.name == name and one.decides for one in await known.listing())

    decides = run(work())
    console().print(f"{slack_id} is {name}.")
    if not decides:
        console().print(
            f"{name} can't decide yet: outlive token create {name} --role approver",
            soft_wrap=True,
        )


@people.command("list")
@json_option
@click.pass_obj
def people_list(cli: Cli, /, *, as_json: bool) -> None:
    """List people and their Slack accounts."""

    async def work() -> list[Person]:
        async with open_ledger(cli.settings()) as ledger:
            return await People(ledger.pool).listing()

    found = run(work())
    if as_json:
        emit({"people": [asdict(one) for one in found]})
        return
    shown = table("NAME", "SLACK", "MAY DECIDE")
    for one in found:
        shown.add_row(plain(one.name), plain(one.slack_id), "yes" if one.decides else "no token")
    console().print(shown if found else "Nobody's Slack account is known.")


@people.command("remove")
@click.argument("name")
@click.pass_obj
def people_remove(cli: Cli, /, name: str) -> None:
    """Forget NAME's Slack account."""

    async def work() -> None:
        async with open_ledger(cli.settings()) as ledger:
            await People(ledger.pool).remove(name)

    run(work())
    console().print(f"The Slack account of {plain(name)} is forgotten.")

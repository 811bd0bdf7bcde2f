"""`outlive policy`: which rules are in force, what they did, what others would have done."""

from datetime import timedelta
from pathlib import Path

import click

from ledger.policy import ASK_ALWAYS, Policy, load_policy
from ledger.policy_past import Past, replay
from sidecar.cli.base import Cli, console, emit, json_option, run, table
from sidecar.cli.policy_past import as_document, print_record, print_replay
from sidecar.http.policy import statistics_view
from sidecar.plain import plain
from sidecar.proposals.policy_past import DAYS, PolicyRecord, policy_record, read_past
from sidecar.wiring import open_ledger


@click.group()
def policy() -> None:
    """What the policy may approve by itself."""


_days = click.option(
    "--days",
    type=click.IntRange(1, 90),
    default=DAYS,
    show_default=True,
    help="How far back to look.",
)


@policy.command("check")
@click.argument("file", type=click.Path(path_type=Path))
def policy_check(file: Path) -> None:
    """Say whether FILE can be used; serving processes pick it up by themselves."""
    found = load_policy(file)
    console().print(
        f"Policy {found.version} can be used: {len(found.rules)} rules, "
        f"{len(found.two_people)} second thresholds, {len(found.limits)} limits."
    )


@policy.command("show")
@json_option
@click.pass_obj
def policy_show(cli: Cli, /, *, as_json: bool) -> None:
    """Show the rules of this installation's file."""
    settings = cli.settings()
    path = settings.policy
    found = ASK_ALWAYS if path is None else load_policy(path)
    if as_json:
        emit({"file": None if path is None else str(path), **found.model_dump(mode="json")})
        return
    out = console()
    out.print(f"Policy {found.version}, {path or 'no file: every irreversible effect asks'}")
    _print(found)


@policy.command("suggest")
@_days
@json_option
@click.pass_obj
def policy_suggest(cli: Cli, /, *, days: int, as_json: bool) -> None:
    """Show what each rule did lately, and what could be looked at. Changes nothing."""
    settings = cli.settings()
    rules = ASK_ALWAYS if settings.policy is None else load_policy(settings.policy)

    async def work() -> PolicyRecord:
        async with open_ledger(settings) as ledger:
            return await policy_record(ledger, rules, days=days)

    record = run(work())
    if as_json:
        emit(statistics_view(record).model_dump(mode="json"))
        return
    print_record(record)


@policy.command("replay")
@click.argument("file", type=click.Path(path_type=Path))
@_days
@json_option
@click.pass_obj
def policy_replay(cli: Cli, /, *, file: Path, days: int, as_json: bool) -> None:
    """Say about which of the last requests FILE would have ruled otherwise. Changes nothing.

    Daily limits are not replayed: they depend on the order of a day.
    """
    settings = cli.settings()
    rules = load_policy(file)

    async def work() -> tuple[list[Past], bool]:
        async with open_ledger(settings) as ledger:
            since = await ledger.now() - timedelta(days=days)
            return await read_past(ledger, since)

    past, cut = run(work())
    changed = replay(rules, past)
    if as_json:
        emit(as_document(changed, len(past), cut=cut))
        return
    print_replay(changed, len(past), cut=cut)


def _print(found: Policy) -> None:
    shown = table("RULE", "TYPES", "GOES BY ITSELF UP TO (minor units)", "ITEMS", "AGENTS")
    for rule in found.rules:
        shown.add_row(
            plain(rule.name),
            plain(", ".join(rule.types)),
            _amounts(rule.total_at_most_minor),
            f"{rule.items_at_most:,}",
            plain(", ".join(rule.agents) or "any"),
        )
    for threshold in found.two_people:
        above = f"two people above {_amounts(threshold.above_minor)}"
        shown.add_row("two_people", plain(", ".join(threshold.types)), above, "", "")
    for limit in found.limits:
        most = _amounts(limit.at_most_minor)
        count = "" if limit.at_most_count is None else f" {limit.at_most_count:,} operations"
        told = f"{most}{count} a day per {limit.per}"
        shown.add_row(plain(limit.name), plain(", ".join(limit.types)), told, "", "")
    console().print(shown)


def _amounts(amounts: dict[str, int]) -> str:
    return ", ".join(f"{minor:,} {currency}" for currency, minor in sorted(amounts.items()))

"""`outlive policy`: whether a file can be used, and which rules are in force."""

from pathlib import Path

import click

from ledger.policy import ASK_ALWAYS, Policy, load_policy
from sidecar.cli.base import Cli, console, emit, json_option, table
from sidecar.plain import plain


@click.group()
def policy() -> None:
    """What the policy may approve by itself."""


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

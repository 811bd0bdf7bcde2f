"""What all commands share: the settings they were given, options, output."""

import asyncio
import getpass
import json
import os
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar
from uuid import UUID

import click
from rich.console import Console
from rich.table import Table

from ledger.errors import InvalidInput
from sidecar.plain import plain
from sidecar.settings import Settings, load

WIDE: Final = 200
"""Columns where nobody says how wide the output is: a pipe, a file. A line an operation, so that
a target can be searched for and copied whole."""

Result = TypeVar("Result")
Given = ParamSpec("Given")


@dataclass(frozen=True, slots=True)
class Cli:
    """What was said before the command's name."""

    home: Path | None = None
    verbose: int = 0
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def settings(self, **given: Any) -> Settings:
        """The settings of this process; what was typed wins over the environment.

        Raises:
            BadSettings: Naming what is wrong.
        """
        typed = {**self.more, **{name: value for name, value in given.items() if value is not None}}
        if self.home is not None:
            typed["home"] = self.home
        return load(**typed)


def console(*, stderr: bool = False) -> Console:
    """A console that takes text as text: no markup, no emoji codes, no guessing."""
    made = Console(stderr=stderr, markup=False, emoji=False, highlight=False, soft_wrap=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = max(made.width, WIDE)
    return made


def table(*columns: str, title: str | None = None) -> Table:
    """A table in the one style of this command line."""
    made = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for column in columns:
        made.add_column(column, header_style="dim", overflow="fold")
    return made


def emit(value: object) -> None:
    """Print a value for programs: stable keys, exact integers, ASCII only."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=True))


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a command's work to its end."""
    return asyncio.run(work)


def an_id(text: str, what: str) -> UUID:
    """Read an id.

    Raises:
        InvalidInput: It is none.
    """
    try:
        return UUID(text)
    except ValueError:
        raise InvalidInput(f"{plain(text)!r} is not the id of {what}") from None


def json_option(command: Callable[Given, Result]) -> Callable[Given, Result]:
    """Add `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="For programs.")(command)


def by_option(command: Callable[Given, Result]) -> Callable[Given, Result]:
    """Add `--by`: who decides this; by default the user of this machine."""
    return click.option(
        "--by",
        default=_user,
        show_default="you",
        envvar="OUTLIVE_BY",
        callback=_person,
        help="Who decides this.",
    )(command)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid-{os.getuid()}"


def _person(_context: click.Context, _option: click.Parameter, name: str) -> str:
    """A person as the history names them."""
    if not name.strip() or plain(name) != name:
        raise click.BadParameter("a name has visible characters only")
    return name if ":" in name else f"person:{name}"

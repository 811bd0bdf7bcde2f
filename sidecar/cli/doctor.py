"""`outlive doctor`: is everything as it must be, and if not, what to do."""

from dataclasses import asdict
from typing import Final

import click
from rich.text import Text

from sidecar.cli.base import Cli, console, emit, json_option, run, table
from sidecar.cli.exits import Exit
from sidecar.doctor.examination import examine
from sidecar.doctor.health import Finding, Level
from sidecar.plain import plain

_STYLES: Final = {Level.OK: "green", Level.WARN: "yellow", Level.FAIL: "bold red"}


@click.command()
@json_option
@click.pass_obj
def doctor(cli: Cli, /, *, as_json: bool) -> int:
    """Check this installation. Exit code 1 if something fails; warnings do not count."""
    settings = cli.settings()

    async def work() -> list[Finding]:
        return [finding async for finding in examine(settings)]

    findings = run(work())
    healthy = all(finding.level is not Level.FAIL for finding in findings)
    if as_json:
        emit({"healthy": healthy, "findings": [asdict(finding) for finding in findings]})
    else:
        _print(findings)
    return Exit.OK if healthy else Exit.REFUSED


def _print(findings: list[Finding]) -> None:
    shown = table("", "", "", "WHAT TO DO")
    for finding in findings:
        shown.add_row(
            Text(finding.level.value, style=_STYLES[finding.level]),
            finding.subject,
            plain(finding.told),
            plain(finding.do),
        )
    console().print(shown)

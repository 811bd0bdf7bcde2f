"""`outlive audit`: whether the history is as it was written, and a signature that fixes it."""

from pathlib import Path
from typing import Any

import click

from ledger.postgres.audit import verify
from ledger.postgres.audit_report import Finding, Report
from ledger.postgres.checkpoint import Checkpoint
from ledger.postgres.signing import load_public_key, load_signer
from sidecar.cli.base import Cli, console, emit, json_option, run, table
from sidecar.cli.exits import Exit
from sidecar.plain import plain
from sidecar.wiring import open_ledger
from sidecar.worker.checkpoints import sign


@click.group()
def audit() -> None:
    """Prove that the history was not changed behind the ledger's back."""


@audit.command("verify")
@click.option(
    "--public-key",
    "keys",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A public key (PEM) that checkpoints may be signed with, besides this installation's.",
)
@json_option
@click.pass_obj
def audit_verify(cli: Cli, /, *, keys: tuple[Path, ...], as_json: bool) -> int:
    """Recompute every history and every checkpoint. Exit code 1 if anything was found."""
    settings = cli.settings()
    public = [load_public_key(path) for path in keys]
    if settings.signing_key.exists():
        public.append(load_signer(settings.signing_key).public_key)
    anchor = settings.anchor if settings.anchor.exists() else None

    async def work() -> Report:
        async with open_ledger(settings) as ledger:
            return await verify(ledger, public, anchor=anchor)

    report = run(work())
    if as_json:
        emit(_document(report))
    else:
        _print(report)
    return Exit.OK if report.whole else Exit.REFUSED


def _document(report: Report) -> dict[str, Any]:
    until = report.whole_until
    return {
        "whole": report.whole,
        "words": report.words,
        "operations": report.operations,
        "events": report.events,
        "erased": report.erased,
        "checkpoints": report.checkpoints,
        "anchored": report.anchored,
        "whole_until": None if until is None else until.isoformat(),
        "found": report.found,
        "findings": [
            {
                "fault": finding.fault.value,
                "words": finding.words,
                "operation_id": None if finding.operation_id is None else str(finding.operation_id),
                "seq": finding.seq,
                "checkpoint": finding.checkpoint,
            }
            for finding in report.findings
        ],
    }


def _print(report: Report) -> None:
    out = console()
    out.print(
        f"{report.operations:,} operations, {report.events:,} events ({report.erased:,} erased), "
        f"{report.checkpoints:,} checkpoints ({report.anchored:,} compared with the anchor)"
    )
    out.print(report.words)
    if report.findings:
        shown = table("FOUND", "WHERE", "IN WORDS")
        for finding in report.findings:
            shown.add_row(finding.fault.value, _where(finding), plain(finding.words))
        out.print(shown)


def _where(finding: Finding) -> str:
    if finding.operation_id is None:
        return f"checkpoint {finding.checkpoint}"
    return str(finding.operation_id) + ("" if finding.seq is None else f" event {finding.seq}")


@audit.command("checkpoint")
@json_option
@click.pass_obj
def audit_checkpoint(cli: Cli, /, *, as_json: bool) -> None:
    """Sign what changed since the last checkpoint, now; workers do it from time to time."""
    settings = cli.settings()

    async def work() -> Checkpoint | None:
        async with open_ledger(settings) as ledger:
            return await sign(ledger, settings)

    written = run(work())
    if as_json:
        emit({"checkpoint": None if written is None else written.statement.as_json()})
        return
    if written is None:
        console().print("Nothing has changed since the last checkpoint.")
        return
    statement = written.statement
    console().print(
        f"Checkpoint {statement.number}: {statement.operations:,} operations, signed with "
        f"{statement.key_id}; a copy stands in {settings.anchor}"
    )

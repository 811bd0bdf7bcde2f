"""`outlive restored`: after a backup was put back. Holds everything, makes good, lets go on."""

from datetime import datetime
from typing import Any

import click

from ledger.errors import InvalidInput
from ledger.postgres.ledger import Ledger
from ledger.postgres.restoring import Restoration
from sidecar import words
from sidecar.cli.base import Cli, by_option, console, emit, json_option, run, table
from sidecar.cli.exits import Exit
from sidecar.cli.reading import a_time
from sidecar.plain import plain
from sidecar.settings import Settings
from sidecar.wiring import open_ledger
from sidecar.worker.outside import keep_outside, known_epoch, set_aside

_STEPS = """\
Nothing is sent now. What comes next:
  1. outlive worker                    reads the provider's lists, and looks at every operation
  2. outlive restored --status         how far it has come, and what is not clean yet
  3. outlive escalations, resolve      effects without an operation, and what stays in doubt
  4. outlive restored --release        only when clean; what is approved goes on"""


@click.command()
@click.option("--backup-time", help="When the backup was taken (ISO 8601 with a zone).")
@click.option("--status", "status", is_flag=True, help="How far it has come (the default).")
@click.option("--release", "release", is_flag=True, help="Let things go on; only when clean.")
@by_option
@json_option
@click.pass_obj
def restored(
    cli: Cli, /, *, backup_time: str | None, status: bool, release: bool, by: str, as_json: bool
) -> int:
    """After a backup was restored: hold everything, compare with the provider, then release.

    Start with --backup-time, before any other process. What happened since then is not in the
    database, but may be at the provider: nothing is sent, every operation that is not final is in
    doubt, and the provider's lists are compared with the ledger from a day before that time.
    """
    if status + release + (backup_time is not None) > 1:
        raise InvalidInput("say one of --backup-time, --status and --release")
    settings = cli.settings()

    async def work() -> Restoration | None:
        async with open_ledger(settings) as ledger:
            if backup_time is not None:
                await _begin(ledger, settings, a_time(backup_time), by)
            if release:
                await ledger.restorations.release(by=by, settle_s=_settle_s(settings))
            return await ledger.restorations.last(settle_s=_settle_s(settings))

    found = run(work())
    if as_json:
        emit({"restoration": None if found is None else document(found)})
    elif found is None:
        console().print("This database was never restored from a backup, as far as is known.")
    else:
        _print(found)
        if backup_time is not None:
            console().print(_STEPS)
    return Exit.OK if found is not None or not status else Exit.UNKNOWN


async def _begin(ledger: Ledger, settings: Settings, backup_at: datetime | None, by: str) -> None:
    if backup_at is None or backup_at > await ledger.now():
        raise InvalidInput("the backup time lies in the future; say when the backup was taken")
    epoch = await ledger.restorations.begin(
        by=by,
        reason=f"restored from a backup of {backup_at:%Y-%m-%d %H:%M:%S} UTC",
        backup_at=backup_at,
        outside_epoch=known_epoch(settings),
    )
    set_aside(settings, epoch)
    await keep_outside(ledger, settings)


def _settle_s(settings: Settings) -> float:
    """How long what had left before may still take effect unseen."""
    return settings.send_budget_s + settings.tcp_user_timeout_s + settings.processing_margin_s


def document(found: Restoration) -> dict[str, Any]:
    """For programs."""
    return {
        "epoch": found.epoch,
        "began_at": found.began_at.isoformat(),
        "began_by": found.began_by,
        "reason": found.reason,
        "backup_at": found.backup_at.isoformat(),
        "sweep_to": found.sweep_to.isoformat(),
        "open_before": found.open_before,
        "still_open": found.still_open,
        "asked": found.asked,
        "unclear": found.unclear,
        "imported": found.imported,
        "unrecorded": found.unrecorded,
        "unanswered": found.unanswered,
        "sweeps": [
            {
                "type": one.type,
                "account": one.account,
                "swept_until": one.until.isoformat(),
                "compared": one.compared,
                "trouble": one.trouble,
            }
            for one in found.sweeps
        ],
        "released_at": None if found.released_at is None else found.released_at.isoformat(),
        "released_by": found.released_by,
        "clean": not found.reasons,
        "not_clean": found.reasons,
    }


def _print(found: Restoration) -> None:
    out = console()
    shown = table("", "", title=f"Restored backup, epoch {found.epoch}")
    shown.show_header = False
    shown.add_row("why", plain(found.reason))
    shown.add_row("since", f"{words.when(found.began_at, found.at)}, by {plain(found.began_by)}")
    shown.add_row("backup of", words.when(found.backup_at, found.at))
    for one in found.sweeps:
        trouble = f"; {plain(one.trouble)}" if one.trouble else ""
        shown.add_row(
            f"swept {one.type}",
            f"{plain(one.account)} until {one.until:%Y-%m-%d %H:%M:%S} UTC, "
            f"{one.compared:,} effects compared{trouble}",
        )
    shown.add_row("not final in the backup", f"{found.open_before:,}")
    shown.add_row("  ended since", f"{found.open_before - found.still_open:,}")
    shown.add_row("  before a person", f"{found.asked:,}")
    shown.add_row("  not clean yet", f"{found.unclear:,}")
    shown.add_row("sendings imported", f"{found.imported:,}")
    shown.add_row(
        "effects without an operation", f"{found.unrecorded:,}, unanswered {found.unanswered:,}"
    )
    out.print(shown)
    if found.released_at is not None:
        by = plain(found.released_by or "")
        out.print(f"Released {words.when(found.released_at, found.at)}, by {by}.")
        return
    for reason in found.reasons:
        out.print(f"not clean: {plain(reason)}")
    if not found.reasons:
        out.print("Clean: `outlive restored --release` lets what is approved go on.")

"""Compare the database with what is known outside it; keep that up to date."""

import asyncio
import logging
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from ledger.postgres.anchor import Anchored, read_anchor
from ledger.postgres.ledger import Ledger
from ledger.postgres.outside import Mark, Standing, UnusableMark, read_mark, why_behind, write_mark
from sidecar.settings import Settings

WATCH_S: Final = 10.0
"""How often a process that sends looks whether a backup was put back under it."""

_log = logging.getLogger(__name__)


async def check_outside(ledger: Ledger, settings: Settings) -> str | None:
    """Put a database that is older than what is known of it into quarantine; why, if so.

    Raises:
        UnusableMark, UnusableAnchor: It can't be known.
    """
    mark = await asyncio.to_thread(read_mark, settings.mark)
    anchored = await asyncio.to_thread(_last_anchored, settings, str(ledger.identity.ledger_id))
    row = await ledger.pool.row("standing")
    assert row is not None  # noqa: S101  the identity has one row
    standing = Standing.of(row)
    why = why_behind(standing, mark, anchored)
    known = max((one.epoch for one in (mark, anchored) if one), default=0)
    if why is not None:
        await _quarantine(ledger, settings, why, outside_epoch=known)
    elif 0 < known < standing.epoch:  # another process found out, with a folder of its own
        await asyncio.to_thread(set_aside, settings, standing.epoch)
    await keep_outside(ledger, settings)
    return why


async def watch_outside(ledger: Ledger, settings: Settings) -> str | None:
    """The same while a process runs: a backup may be put back under it. Else keep the mark.

    Writing without looking would wipe out the one trace of what the database has lost.

    Raises:
        UnusableMark: It can't be read or written.
    """
    known = await asyncio.to_thread(read_mark, settings.mark)
    now = await _mark(ledger)
    stands = Standing(now.ledger_id, now.epoch, now.transaction, checkpoint=0)
    why = why_behind(stands, known, None)
    if why is not None:
        await _quarantine(ledger, settings, why, outside_epoch=0 if known is None else known.epoch)
        await keep_outside(ledger, settings)
        return why
    if now.epoch != ledger.identity.epoch:  # another process found out
        ledger.identity = replace(ledger.identity, epoch=now.epoch)
    if known is not None and known.epoch < now.epoch:
        await asyncio.to_thread(set_aside, settings, now.epoch)
    await asyncio.to_thread(write_mark, settings.mark, now)
    return None


async def keep_outside(ledger: Ledger, settings: Settings) -> None:
    """Write how far the database has come.

    Raises:
        UnusableMark: It can't be written.
    """
    await asyncio.to_thread(write_mark, settings.mark, await _mark(ledger))


def set_aside(settings: Settings, epoch: int) -> None:
    """Begin a new anchor: the old one has checkpoints that a restored backup lacks."""
    kept = settings.anchor.with_name(f"{settings.anchor.name}.before-epoch-{epoch}")
    with suppress(FileNotFoundError):  # there is none, or another process was quicker
        if not kept.exists():
            settings.anchor.rename(kept)


def known_epoch(settings: Settings) -> int:
    """The epoch that the file knows; 0 where there is no file, or none that can be read."""
    try:
        mark = read_mark(settings.mark)
    except UnusableMark:
        return 0
    return 0 if mark is None else mark.epoch


def _last_anchored(settings: Settings, ledger_id: str) -> Anchored | None:
    """The last checkpoint of this ledger in the anchor."""
    if not settings.anchor.exists():
        return None
    own = (one for one in read_anchor(settings.anchor) if one.ledger_id == ledger_id)
    return max(own, key=lambda one: (one.epoch, one.number), default=None)


async def _quarantine(ledger: Ledger, settings: Settings, why: str, *, outside_epoch: int) -> None:
    epoch = await ledger.restorations.begin(
        by=f"outlive:{settings.identity}",
        reason=why,
        backup_at=await _backup_at(ledger, settings),
        outside_epoch=outside_epoch,
    )
    ledger.identity = replace(ledger.identity, epoch=epoch)
    await asyncio.to_thread(set_aside, settings, epoch)
    _log.error(
        "QUARANTINE: this database is a restored backup, or another ledger: %s. Nothing is "
        "sent. `outlive restored` says what to do",
        why,
    )


async def _mark(ledger: Ledger) -> Mark:
    """How far the database has come, by a transaction of its own that is on the disk."""
    row = await ledger.pool.row("mark")
    assert row is not None  # noqa: S101  the identity has one row
    return Mark(str(row["ledger_id"]), row["epoch"], row["transaction"])


async def _backup_at(ledger: Ledger, settings: Settings) -> datetime | None:
    """Since when things may be missing, at the earliest; `None` where no file tells."""
    try:
        marked_s = settings.mark.stat().st_mtime
    except FileNotFoundError:
        return None
    row = await ledger.pool.row("backup_at", marked_at=datetime.fromtimestamp(marked_s, UTC))
    assert row is not None  # noqa: S101  the identity has one row
    found: datetime = row["backup_at"]
    return found

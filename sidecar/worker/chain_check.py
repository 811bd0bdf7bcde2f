"""Recompute the history again and again, a part at a time; the result stands in a file.

`outlive audit verify` does it all at once and on demand. A worker does it slowly: so many
operations a pass, and the checkpoints at the end of each round, so that a page can say until when
the chain is known to be whole without computing anything. Workers of one state folder take turns.
"""

import asyncio
import contextlib
import fcntl
from collections.abc import Generator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pydantic import TypeAdapter

from ledger.postgres.audit import BEFORE_ALL, CHUNK, follow_chunk
from ledger.postgres.audit_checkpoints import follow_checkpoints
from ledger.postgres.audit_report import Fault, Finding, Tally
from ledger.postgres.ledger import Ledger
from ledger.postgres.signing import key_id, load_signer
from sidecar.settings import Settings

CHUNKS: Final = 10
"""A pass looks at 5,000 operations at most."""
FILE: Final = "chain.json"


@dataclass(frozen=True, slots=True)
class Broken:
    """The first thing that does not hold."""

    words: str
    operation_id: UUID | None
    seq: int | None
    checkpoint: int | None


@dataclass(frozen=True, slots=True)
class Round:
    """One walk over the whole history, done or under way."""

    began_at: datetime
    ended_at: datetime | None = None
    operations: int = 0
    events: int = 0
    checkpoints: int = 0
    found: int = 0
    others_keys: int = 0
    """Checkpoints signed with a key that this installation does not know: not proven here."""
    first: Broken | None = None
    whole_until: datetime | None = None
    """The last checkpoint that was proven; known at the end."""
    place: UUID = BEFORE_ALL
    """The last operation that was looked at."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """What the file holds."""

    ledger_id: UUID
    last: Round | None
    now: Round | None


_ROUNDS: Final = TypeAdapter(Rounds)


async def check_chain(ledger: Ledger, settings: Settings, *, chunks: int = CHUNKS) -> bool:
    """Go on with the round; whether it has ended with this pass.

    Raises:
        DatabaseUnreachable: The next time.
        UnusableAnchor, UnusableKey: As they say.
    """
    with _turn(settings.home) as ours:
        if not ours:
            return False
        known = read_rounds(settings.home, ledger.identity.ledger_id)
        last = None if known is None else known.last
        began = None if known is None else known.now
        now = began or Round(await ledger.now())
        tally = Tally()
        after: UUID | None = now.place
        for _ in range(chunks):
            assert after is not None  # noqa: S101  the loop ends with it
            after = await follow_chunk(ledger.pool, after, CHUNK, tally)
            if after is None:
                break
        if after is None:
            await _checkpoints(ledger, settings, tally)
        now = _further(now, tally, after)
        if after is None:
            now = replace(now, ended_at=await ledger.now())
        told = Rounds(
            ledger.identity.ledger_id,
            now if after is None else last,
            None if after is None else now,
        )
        await asyncio.to_thread(_write, settings.home, told)
        return after is None


async def _checkpoints(ledger: Ledger, settings: Settings, tally: Tally) -> None:
    keys: dict[str, Ed25519PublicKey] = {}
    if settings.signing_key.exists():
        public = load_signer(settings.signing_key).public_key
        keys[key_id(public)] = public
    anchor = settings.anchor if settings.anchor.exists() else None
    await follow_checkpoints(ledger.pool, keys, anchor, tally)


def _further(now: Round, tally: Tally, after: UUID | None) -> Round:
    others = [one for one in tally.findings if one.fault is Fault.KEY_UNKNOWN]
    real = [one for one in tally.findings if one.fault is not Fault.KEY_UNKNOWN]
    first = now.first
    if first is None and real:
        first = _broken(real[0])
    return replace(
        now,
        operations=now.operations + tally.operations,
        events=now.events + tally.events,
        checkpoints=tally.checkpoints,
        found=now.found + (tally.found - len(others) if real else 0),
        others_keys=len(others),
        first=first,
        whole_until=tally.whole_until,
        place=BEFORE_ALL if after is None else after,
    )


def _broken(finding: Finding) -> Broken:
    return Broken(finding.words, finding.operation_id, finding.seq, finding.checkpoint)


def read_rounds(home: Path, ledger_id: UUID) -> Rounds | None:
    """What workers of this state folder found; `None` if nothing, or of another ledger."""
    try:
        found = _ROUNDS.validate_json((home / FILE).read_bytes())
    except (OSError, ValueError):
        return None
    return found if found.ledger_id == ledger_id else None


def _write(home: Path, told: Rounds) -> None:
    """Whole or not at all: a reader never sees half of it."""
    draft = home / f"{FILE}.new"
    draft.write_bytes(_ROUNDS.dump_json(told) + b"\n")
    draft.replace(home / FILE)


@contextlib.contextmanager
def _turn(home: Path) -> Generator[bool]:
    """Whether it is ours: one process of a state folder at a time; the kernel ends a dead one's."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / f"{FILE}.lock").open("a", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True

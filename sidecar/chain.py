"""Whether the history is whole, as a page says it: cheap, from what a worker has recomputed.

It is this installation's: its state folder holds the last round and the anchor. Where workers run
on other hosts, with folders of their own, nothing is claimed.
"""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from ledger.postgres.anchor import last_anchored
from ledger.postgres.connect import Pool
from ledger.postgres.ledger import Ledger
from sidecar.settings import Settings
from sidecar.worker.chain_check import Broken, Round, read_rounds


class Standing(StrEnum):
    """What can be said."""

    WHOLE = "whole"
    BROKEN = "broken"
    UNKNOWN = "unknown"
    """No round has ended yet in this state folder."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A signature over the history up to a time."""

    number: int
    at: datetime
    key_id: str


@dataclass(frozen=True, slots=True)
class Chain:
    """The state of the chain."""

    standing: Standing
    whole_until: datetime | None
    """The last checkpoint that was proven; `None` where none was."""
    checked_at: datetime | None
    """When the last whole round ended."""
    operations: int
    events: int
    found: int
    broken: Broken | None
    """The first thing that does not hold, also of a round under way."""
    others_keys: int
    """Checkpoints signed with a key that this installation does not know: not proven here."""
    checkpoint: Checkpoint | None
    """The last one signed."""
    anchored_at: datetime | None
    """The time of the newest checkpoint that also stands in this installation's anchor."""


class ChainReader:
    """Reads the state of the chain."""

    def __init__(self, ledger: Ledger, settings: Settings) -> None:
        self._ledger = ledger
        self._settings = settings

    async def read(self, over: Pool | None = None) -> Chain:
        """Two queries at most, the end of one file and all of a small one.

        Args:
            over: A snapshot, where the answer shall agree with what is read beside it.

        Raises:
            DatabaseUnreachable: PostgreSQL does not answer.
            UnusableAnchor: The anchor is there and can't be read.
        """
        pool = over or self._ledger.pool
        home, ledger_id = self._settings.home, self._ledger.identity.ledger_id
        rounds = await asyncio.to_thread(read_rounds, home, ledger_id)
        row = await pool.row("chain_state")
        last = None if rounds is None else rounds.last
        now = None if rounds is None else rounds.now
        worst = next((one for one in (now, last) if one is not None and one.found), last)
        return Chain(
            standing=_standing(worst),
            whole_until=None if last is None else last.whole_until,
            checked_at=None if last is None else last.ended_at,
            operations=0 if last is None else last.operations,
            events=0 if last is None else last.events,
            found=0 if worst is None else worst.found,
            broken=None if worst is None else worst.first,
            others_keys=0 if last is None else last.others_keys,
            checkpoint=None if row is None else Checkpoint(**row),
            anchored_at=await self._anchored_at(pool),
        )

    async def _anchored_at(self, pool: Pool) -> datetime | None:
        epoch, number = await asyncio.to_thread(last_anchored, self._settings.anchor)
        row = await pool.row("checkpoint_at", epoch=epoch, number=number)
        return None if row is None else row["at"]


def _standing(worst: Round | None) -> Standing:
    if worst is None:
        return Standing.UNKNOWN
    return Standing.BROKEN if worst.found else Standing.WHOLE

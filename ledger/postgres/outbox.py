"""Messages that leave the ledger: put in with the change they tell of, sent at least once."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from ledger.ids import new_id
from ledger.model import Json
from ledger.postgres.connect import Pool

GIVE_UP_S: Final = 24 * 3_600.0
"""How long a message is tried; then it is given up, and `outlive doctor` says so."""


class Kind(StrEnum):
    """Where a message goes."""

    NEWS = "news"
    """Put in by the ledger itself; copied to each channel that is set up."""
    SLACK = "slack"
    WEBHOOK = "webhook"
    RESUME = "resume"
    """To the address of a run."""


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel that is set up, and which news it wants: the event's first word."""

    kind: Kind
    wants: Sequence[str]


@dataclass(frozen=True, slots=True)
class Message:
    """A message, held until its lease ends; `attempts` is the fence of its end."""

    id: UUID
    kind: Kind
    subject: UUID
    """The proposal, run or escalation that it tells of."""
    key: str
    payload: Mapping[str, Json]
    created_at: datetime
    attempts: int

    @property
    def event(self) -> str:
        """What it tells: `proposal.awaiting`, `escalation.opened`, `run.ready` and so on."""
        event: str = self.payload["event"]
        return event


@dataclass(frozen=True, slots=True)
class Found:
    """How a message that was put in stands."""

    sent: bool
    gave_up: bool
    receipt: Mapping[str, Json] | None
    """What the receiver said, such as where the message is now."""

    @property
    def over(self) -> bool:
        """Whether nothing more is going to happen with it."""
        return self.sent or self.gave_up


@dataclass(frozen=True, slots=True)
class Standing:
    """One kind of message: what waits, for how long, and what fails."""

    kind: str
    waiting: int
    failing: int
    """Of those that wait: tried at least once, in vain."""
    gave_up: int
    """Within the last day."""
    oldest_s: float
    last_error: str | None


class Outbox:
    """Puts in, claims by state, and writes what became of each."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def put(self, kind: Kind, subject: UUID, key: str, payload: Mapping[str, Json]) -> bool:
        """Put a message in; whether it is new."""
        row = await self._pool.row(
            "outbox_put",
            id=new_id(),
            kind=kind.value,
            subject=subject,
            key=key,
            payload=json.dumps(dict(payload)),
        )
        return row is not None

    async def fan_out(self, channels: Sequence[Channel], *, limit: int) -> int:
        """Copy news to the channels; how many there were."""
        told = [{"kind": c.kind.value, "wants": list(c.wants)} for c in channels]
        row = await self._pool.row("outbox_fan_out", channels=json.dumps(told), limit=limit)
        return 0 if row is None else int(row["count"])

    async def claim(self, kinds: Sequence[Kind], *, limit: int, lease_s: float) -> list[Message]:
        """Take messages that are due."""
        rows = await self._pool.rows(
            "outbox_claim", kinds=[kind.value for kind in kinds], limit=limit, lease_s=lease_s
        )
        return [
            Message(
                id=row["id"],
                kind=Kind(row["kind"]),
                subject=row["subject"],
                key=row["key"],
                payload=row["payload"],
                created_at=row["created_at"],
                attempts=row["attempts"],
            )
            for row in rows
        ]

    async def sent(self, message: Message, receipt: Mapping[str, Json] | None) -> None:
        """It has arrived."""
        await self._pool.rows(
            "outbox_sent",
            id=message.id,
            attempts=message.attempts,
            receipt=None if receipt is None else json.dumps(dict(receipt)),
        )

    async def failed(
        self, message: Message, error: str, *, again_s: float, for_good: bool = False
    ) -> bool:
        """It did not arrive; whether it is given up."""
        row = await self._pool.row(
            "outbox_failed",
            id=message.id,
            attempts=message.attempts,
            error=error,
            again_s=again_s,
            for_good=for_good,
            give_up_s=GIVE_UP_S,
        )
        return row is not None and bool(row["gave_up"])

    async def find(self, key: str) -> Found | None:
        """How a message stands; `None` if it was never put in."""
        row = await self._pool.row("outbox_find", key=key)
        return None if row is None else Found(row["sent"], row["gave_up"], row["receipt"])

    async def standing(self) -> list[Standing]:
        """What waits and what fails, for metrics and `outlive doctor`."""
        rows = await self._pool.rows("outbox_standing", within_s=86_400.0)
        return [
            Standing(
                kind=row["kind"],
                waiting=int(row["waiting"]),
                failing=int(row["failing"]),
                gave_up=int(row["gave_up"]),
                oldest_s=float(row["oldest_s"] or 0.0),
                last_error=row["last_error"],
            )
            for row in rows
        ]

    async def page_again(self, *, every_s: float, limit: int = 100) -> int:
        """Put news in about open questions that nobody is on; how many."""
        return len(await self._pool.rows("page_again", every_s=every_s, limit=limit))

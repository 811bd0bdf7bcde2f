"""Who did what, beside the operations' own history: read from the rows that keep it."""

import base64
import binascii
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from ledger.errors import InvalidInput
from ledger.postgres.connect import Pool

DAYS: Final = 30
"""How far back is looked where nobody says."""
PAGE: Final = 200
KINDS: Final = (
    "proposal.asked",
    "proposal.signed",
    "proposal.unsigned",
    "proposal.approved",
    "proposal.changed",
    "proposal.rejected",
    "proposal.expired",
    "proposal.withdrawn",
    "authorization.revoked",
    "escalation.signed",
    "escalation.unsigned",
    "escalation.answered",
    "brake.set",
    "brake.released",
    "token.made",
    "token.revoked",
    "session.begun",
    "policy.loaded",
    "policy.broken",
    "ledger.restored",
    "ledger.released",
)
"""What is told; the part before the dot names a group."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Somebody did something."""

    at: datetime
    key: str
    """Unique, and a part of the order."""
    who: str | None
    """`unknown`, or `None`: it was not kept."""
    what: str
    subject: str
    """`proposal`, `escalation`, `brake`, `token`, `session`, `policy`, `ledger`."""
    subject_id: str
    told: Mapping[str, Any]
    """Free text in it (`reason`, `note`) is a person's."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which entries."""

    since: datetime
    until: datetime
    who: str | None = None
    what: str | None = None
    before: tuple[datetime, str] | None = None

    @classmethod
    def lately(cls, now: datetime, **more: Any) -> "Wanted":
        """The last thirty days."""
        return cls(now - timedelta(days=DAYS), now + timedelta(seconds=1), **more)


async def read_trail(pool: Pool, wanted: Wanted, *, limit: int = PAGE) -> list[Entry]:
    """A page, the newest first: one query.

    Raises:
        DatabaseUnreachable: PostgreSQL does not answer.
    """
    before_at, before_key = (None, None) if wanted.before is None else wanted.before
    rows = await pool.rows(
        "trail",
        since=wanted.since,
        until=wanted.until,
        who=wanted.who,
        what=wanted.what,
        before_at=before_at,
        before_key=before_key,
        limit=limit,
    )
    return [Entry(**row) for row in rows]


async def whole_trail(pool: Pool, wanted: Wanted, *, most: int) -> AsyncGenerator[Entry]:
    """Page after page, for an export. Raises as `read_trail` does."""
    left = most
    while left > 0:
        page = await read_trail(pool, wanted, limit=min(PAGE, left))
        for entry in page:
            yield entry
        left -= len(page)
        if len(page) < PAGE:
            return
        wanted = replace(wanted, before=(page[-1].at, page[-1].key))


def cursor_of(entry: Entry) -> str:
    """Where the next page begins: behind this entry."""
    place = f"{entry.at.astimezone(UTC).isoformat()} {entry.key}"
    return base64.urlsafe_b64encode(place.encode()).decode().rstrip("=")


def place_of(cursor: str) -> tuple[datetime, str]:
    """The place of a cursor.

    Raises:
        InvalidInput: It is none of ours.
    """
    try:
        at, _, key = base64.b64decode(f"{cursor}===", b"-_").decode().partition(" ")
        place = datetime.fromisoformat(at), key
    except (binascii.Error, ValueError) as error:
        raise InvalidInput(f"{cursor!r} is no cursor; begin again without one") from error
    if not key or place[0].tzinfo is None or "\0" in key:
        raise InvalidInput(f"{cursor!r} is no cursor; begin again without one")
    return place

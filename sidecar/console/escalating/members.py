"""The operations behind a question about a whole account: what they are worth, what runs out.

The question itself bears neither money nor a window, and what waits for it is spread over many
operations. Only so many are read, the oldest first: ids sort by time, as windows mostly do.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from ledger.escalations import Escalation
from ledger.model import Money, Operation
from ledger.postgres.rows import operation_of
from ledger.postgres.snapshot import Snapshot
from recovery.causes import sums_of
from recovery.dossier import window_ends_at
from sidecar.console.deeds import deed
from sidecar.console.page import Call

NAMES_ONE: Final = "WINDOWS_CLOSING"
"""This reason comes with one operation of each account; the sums of all stand in its dossier."""
READ: Final = 200
"""Operations that are read for one page, whatever there is."""


@dataclass(frozen=True, slots=True)
class Member:
    """One of them."""

    id: UUID
    name: str
    money: Money | None
    state: str
    in_doubt: bool
    escalated: bool
    final: bool
    code: str
    """Of recovery's last decision."""
    since: datetime | None
    """When its first sending began, whose outcome nobody knows."""
    window_ends_at: datetime | None


@dataclass(frozen=True, slots=True)
class Members:
    """All of one question."""

    count: int
    """Also of those that were not read."""
    read: tuple[Member, ...]
    """What runs out first is first, what is settled last."""
    window_ends_at: datetime | None
    """The first end of a key's window that is still to come; none is: the last that was."""
    over: int
    """How many windows have ended."""
    whole: bool
    """Those that were read are all that there are: sums are sums, not the least of it."""

    @property
    def doubtful(self) -> tuple[Member, ...]:
        """Those of which nobody knows whether they took effect."""
        return tuple(one for one in self.read if one.in_doubt)

    @property
    def waiting(self) -> tuple[Member, ...]:
        """Those that are not settled by now."""
        return tuple(one for one in self.read if not one.final)

    @property
    def sums(self) -> tuple[Money, ...]:
        """What is in doubt, one sum a currency; nothing is: what waits."""
        counted = self.doubtful or self.waiting
        sums = sums_of([one.money for one in counted])
        return tuple(Money(total, currency) for currency, total in sums.items())

    @property
    def since(self) -> datetime | None:
        """Since when something is in doubt."""
        return min((one.since for one in self.doubtful if one.since is not None), default=None)


async def members_of(
    call: Call, now: Snapshot, questions: Sequence[Escalation]
) -> dict[UUID, Members]:
    """The operations of questions about accounts, in one statement; without such, in none."""
    asked = {one.id: one for one in questions if one.scope == "account"}
    if not asked:
        return {}
    each = max(1, READ // len(asked))
    some = {question: one.members[:each] for question, one in asked.items()}
    rows = await now.rows("read_operations", ids=[one for ids in some.values() for one in ids])
    known = {row["id"]: _member(call, operation_of(row)) for row in rows}
    return {
        question: _together(asked[question], [known[one] for one in ids if one in known], now.at)
        for question, ids in some.items()
    }


def _together(question: Escalation, read: Sequence[Member], at: datetime) -> Members:
    ends = sorted(one.window_ends_at for one in read if one.window_ends_at is not None)
    over = [each for each in ends if each <= at]
    return Members(
        count=len(question.members),
        read=tuple(sorted(read, key=_first_lost)),
        window_ends_at=next(iter([*ends[len(over) :], *reversed(over)]), None),
        over=len(over),
        whole=len(question.members) == len(read) and NAMES_ONE not in question.reasons,
    )


def _member(call: Call, operation: Operation) -> Member:
    types = call.doors.types
    known = operation.type in types.names
    key = types.get(operation.type).capabilities.key if known else None
    return Member(
        id=operation.id,
        name=deed(operation.type, operation.subject.object_id, call.reader.language),
        money=operation.subject.money,
        state=operation.state.value,
        in_doubt=operation.in_doubt,
        escalated=operation.escalated,
        final=operation.final,
        code=operation.decision or "",
        since=operation.window_started_at,
        window_ends_at=window_ends_at(operation, key) if operation.in_doubt else None,
    )


def _first_lost(one: Member) -> tuple[bool, bool, float, UUID]:
    ends = one.window_ends_at
    return one.final, ends is None, 0.0 if ends is None else ends.timestamp(), one.id

"""How far an approved batch is, and what was decided about one that is over."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from ledger.model import Money
from ledger.postgres.snapshot import Snapshot
from ledger.proposals import Proposal
from sidecar.access.roles import Right
from sidecar.console.approving.reading import Row, rows_of
from sidecar.console.approving.words import effects
from sidecar.console.deeds import batch, money_of
from sidecar.console.page import Call

_ORDER: Final = ("confirmed", "sent", "doubt", "given_up", "failed", "stopped", "created")


@dataclass(frozen=True, slots=True)
class Step:
    """Operations that stand alike."""

    standing: str
    count: int
    sums: tuple[Money, ...]
    start: str
    """Where its piece of the bar begins, and how wide it is."""
    width: str


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the operations: a count, and one sum a currency."""

    count: int
    sums: tuple[Money, ...]


@dataclass(frozen=True, slots=True)
class DoneView:
    """The page of an approved proposal."""

    proposal: Proposal = field(repr=False)
    key: tuple[UUID, str]
    name: str
    effects: str
    whole: Part
    steps: tuple[Step, ...]
    stopped: Part
    left: Part
    ended: Part
    """Ended before the stop without ever having left."""
    can_stop: Part
    may_stop: bool
    revoked_at: datetime | None
    revoked_by: str | None
    by_you: bool
    had_left: tuple[Row, ...]
    """After a stop: which ones had left, the first of them."""

    @property
    def over(self) -> bool:
        """Whether everything has come to an end."""
        return all(step.standing in {"confirmed", "failed", "stopped"} for step in self.steps)


async def read_done(call: Call, now: Snapshot, proposal: Proposal) -> DoneView:
    """Read how far it is."""
    rows = await now.rows("console_progress", id=proposal.id)
    found = await now.row("console_authorized", id=proposal.id)
    given: Mapping[str, Any] = found or {}
    revoked_at = given.get("revoked_at")
    whole = _part(rows)
    shown = await rows_of(now, proposal.id) if revoked_at is not None else []
    language = call.reader.language
    return DoneView(
        proposal=proposal,
        key=(proposal.id, proposal.state.value),
        name=batch(proposal.type, whole.count, language),
        effects=effects(proposal.type, whole.count, language),
        whole=whole,
        steps=_steps(rows, whole.count),
        stopped=_part([row for row in rows if row["standing"] == "stopped"]),
        left=_part([row for row in rows if row["had_left"]]),
        ended=_part([r for r in rows if not r["had_left"] and r["standing"] == "failed"]),
        can_stop=_part([row for row in rows if row["standing"] == "created"]),
        may_stop=call.may(Right.REVOKE) and revoked_at is None,
        revoked_at=revoked_at,
        revoked_by=given.get("revoked_by"),
        by_you=proposal.decided_by == call.who.actor,
        had_left=tuple(row for row in shown if not row.stopped and row.state != "created"),
    )


def _part(rows: Sequence[Mapping[str, Any]]) -> Part:
    sums: dict[str, int] = {}
    for row in rows:
        money = money_of(row["total_minor"], row["currency"])
        if money is not None:
            sums[money.currency] = sums.get(money.currency, 0) + money.amount_minor
    return Part(
        sum(row["count"] for row in rows),
        tuple(Money(total, currency) for currency, total in sorted(sums.items())),
    )


def _steps(rows: Sequence[Mapping[str, Any]], count: int) -> tuple[Step, ...]:
    steps: list[Step] = []
    start = 0
    for standing in _ORDER:
        part = _part([row for row in rows if row["standing"] == standing])
        if part.count:
            steps.append(
                Step(
                    standing,
                    part.count,
                    part.sums,
                    f"{100 * start / count:.2f}%",
                    f"{100 * part.count / count:.2f}%",
                )
            )
            start += part.count
    return tuple(steps)

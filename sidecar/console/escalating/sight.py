"""What the provider showed when it was last asked, by recovery or by a person. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ledger.escalations import Escalation
from ledger.model import Money, Operation
from recovery.asking import answered_at
from sidecar.console.deeds import money_of


@dataclass(frozen=True, slots=True)
class Found:
    """An effect at the provider."""

    reference: str
    money: Money | None
    status: str


@dataclass(frozen=True, slots=True)
class Sight:
    """The last look, and what can be made of it."""

    at: datetime | None
    """`None`: nobody has looked yet."""
    trouble: str | None
    """Why nothing can be made of it; `None`: a whole answer."""
    answered_at: datetime | None
    """When the provider last gave a whole answer."""
    ours: tuple[Found, ...]
    others: tuple[Found, ...]
    """Effects on the target that are not this operation's, and came after it was approved."""
    remaining: Money | None
    gone: tuple[str, ...]
    settled: bool
    """Nothing that was sent can take effect unseen any more."""
    locked: Mapping[str, str]
    """Answers that would be refused, each with the reason; known where a person asked."""

    @property
    def absent(self) -> bool:
        """No effect of ours is there, and that can be believed."""
        return self.at is not None and self.trouble is None and not self.ours and self.settled


def sight(question: Escalation, operation: Operation, now: datetime) -> Sight:
    """Take the latest of recovery's look and a person's."""
    told: Mapping[str, Any] = question.dossier.get("provider") or {}
    looked: str | None = question.dossier.get("looked_at")
    asked: Mapping[str, Any] = (question.asked or {}).get("last") or {}
    by_hand = bool(asked) and (looked is None or asked["at"] > looked)
    at = asked["at"] if by_hand else looked
    latest = asked if by_hand else told
    proof: Mapping[str, Any] = latest.get("proof", latest) if by_hand else latest
    ours, others = _sorted(operation, latest.get("effects") or ())
    money = operation.subject.money
    remaining = proof.get("remaining_minor")
    return Sight(
        at=None if at is None else datetime.fromisoformat(at),
        trouble=latest.get("trouble"),
        answered_at=answered_at(question, question.asked),
        ours=ours,
        others=others,
        remaining=None if remaining is None or money is None else Money(remaining, money.currency),
        gone=tuple(proof.get("gone") or ()),
        settled=operation.settled_at is None or operation.settled_at <= now,
        locked=dict(latest.get("locked") or {}),
    )


def _sorted(
    operation: Operation, effects: Iterable[Mapping[str, Any]]
) -> tuple[tuple[Found, ...], tuple[Found, ...]]:
    """Ours, and those of others that were not there when it was approved."""
    ours: list[Found] = []
    others: list[Found] = []
    before: Sequence[str] = operation.snapshot.get("references") or ()
    recorded = {operation.reference, *(a.answer.reference for a in operation.attempts if a.answer)}
    for each in effects:
        found = Found(
            each["reference"],
            money_of(each["amount_minor"], each["currency"]),
            each["status"] or "",
        )
        if each["carries_our_id"] == str(operation.id) or each["reference"] in recorded:
            ours.append(found)
        elif each["reference"] not in before:
            others.append(found)
    return tuple(ours), tuple(others)

"""A question put to a person, as a value. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from ledger.model import Json, Money

NEEDS_A_PERSON: Final = frozenset(
    {
        "DUPLICATE_EFFECT",
        "EFFECT_MISMATCH",
        "LATE_EFFECT",
        "LATE_FAILURE_AFTER_SUCCESS",
        "EFFECT_VANISHED",
        "POSSIBLE_HAND_DOUBLE",
        "UNRECORDED_EFFECT",
    }
)
"""Reasons that never close by themselves. All others asked about doubt, and an answer of the
provider settles them."""

BINDS_NOTHING: Final = "wait"
"""The answer that neither moves nor closes money: one person gives it."""

ABOUT_LOOKING: Final = ("PROVIDER_AUTH", "PROVIDER_UNREACHABLE", "TARGET_NOT_VISIBLE")
"""Reasons of an account's question that a look-up which answers again settles."""


@dataclass(frozen=True, slots=True)
class Escalation:
    """One question, open or answered."""

    id: UUID
    scope: str
    """`operation`, `account` or `effect`."""
    operation_id: UUID | None
    provider: str
    account: str
    reference: str | None
    reasons: tuple[str, ...]
    members: tuple[UUID, ...]
    opened_at: datetime
    money: Money | None
    window_ends_at: datetime | None
    dossier: Mapping[str, Json]
    claimed_by: str | None
    claimed_until: datetime | None
    closed_at: datetime | None
    closed_by: str | None
    verdict: str | None
    note: str | None
    evidence: Mapping[str, Json] | None
    """What traces and logs told, once it was gathered; nothing decides by it."""
    asked: Mapping[str, Json] | None = None
    """What came of asking the provider again: `last`, and the last `answer`, if it was another."""

    @property
    def open(self) -> bool:
        """Whether it still waits for an answer."""
        return self.closed_at is None


@dataclass(frozen=True, slots=True)
class Signature:
    """The first of two people has signed an answer: on one case, and for no other answer."""

    escalation_id: UUID
    signer: str
    answer: Mapping[str, Json]
    """`verdict`, `reference`, `until`."""
    note: str
    signed_at: datetime
    case_version: int
    counts: bool
    """Whether the case is still the one that was signed on."""


def people_needed(money: Money | None, verdict: str | None, above_minor: Mapping[str, int]) -> int:
    """How many different people an answer takes; the closing statement judges alike.

    Args:
        money: What the question is about.
        verdict: The answer; `None`: any that closes the question for good.
        above_minor: The policy's threshold for each currency, in minor units. None at all: one
            person. A currency that is not named: two.
    """
    if verdict == BINDS_NOTHING or money is None or not above_minor:
        return 1
    return 2 if money.amount_minor > above_minor.get(money.currency, 0) else 1

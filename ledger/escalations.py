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

    @property
    def open(self) -> bool:
        """Whether it still waits for an answer."""
        return self.closed_at is None

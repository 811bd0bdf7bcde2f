"""What people did, as values: the judges tell theirs from the machine's."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID


class Hand(StrEnum):
    """What a person did about an operation."""

    SEPARATE = "declared separate"
    SENT_AGAIN = "sent again"
    DENIED = "said it did not happen"
    CLAIMED = "said it happened"
    BY_HAND = "done by hand"
    GAVE_UP = "gave up"


@dataclass(frozen=True, slots=True)
class Span:
    """From when until when something surely held, in the world's seconds."""

    what: str
    from_s: float
    to_s: float


@dataclass(slots=True)
class Deeds:
    """What people did in a world."""

    hands: defaultdict[UUID, set[Hand]] = field(default_factory=lambda: defaultdict(set))
    brakes: list[Span] = field(default_factory=list[Span])
    revoked: dict[UUID, float] = field(default_factory=dict[UUID, float])
    """Authorizations, and since when their revocation stood."""
    acts: Counter[str] = field(default_factory=Counter[str])
    """How often they did what; for the figures."""

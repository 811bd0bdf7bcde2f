"""What is true at the provider, as values: effects, requests that left, and what befalls them."""

from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Final
from uuid import UUID

from ledger.model import Answer, Liveness, Marker, Money, Outcome

HOUR_S: Final = 3_600.0
DAY_S: Final = 24 * HOUR_S
WIRE_S: Final = 30.0
"""How long written bytes may be under way: the kernel's patience."""


class Luck(StrEnum):
    """What becomes of a request."""

    WELL = "goes well"
    SLOW = "goes well, slowly"
    ANSWER_LOST = "acts, and the answer is lost"
    NEVER_ARRIVES = "never arrives"
    LATE_WIRE = "arrives late"
    LATE_WORK = "is worked on for long"
    ERROR_ACTED = "acts, and fails with a 500"
    ERROR = "fails with a 500"
    REFUSED = "is refused for good"
    INVALID = "is refused as invalid"
    STOPPED = "is stopped before the endpoint"
    PENDING = "is accepted and pends"
    DEAD = "is accepted and fails at once"
    ADAPTER_FAILS = "acts, and the adapter fails"
    OVERDUE = "is worked on for longer than promised"
    WRONG_AMOUNT = "acts with another amount"


STORM: Final = {
    Luck.WELL: 40,
    Luck.SLOW: 4,
    Luck.ANSWER_LOST: 14,
    Luck.NEVER_ARRIVES: 10,
    Luck.LATE_WIRE: 6,
    Luck.LATE_WORK: 6,
    Luck.ERROR_ACTED: 3,
    Luck.ERROR: 3,
    Luck.REFUSED: 4,
    Luck.INVALID: 1,
    Luck.STOPPED: 5,
    Luck.PENDING: 7,
    Luck.DEAD: 1,
    Luck.ADAPTER_FAILS: 1,
}
CALM: Final = {Luck.WELL: 1}
THROTTLED: Final = {Luck.STOPPED: 8, Luck.WELL: 1, Luck.ANSWER_LOST: 1}
LIES: Final = {Luck.OVERDUE: 25, Luck.WRONG_AMOUNT: 5}
"""What a provider that breaks its promises does besides: the record must say so, and ask."""
LOST: Final = Answer(Outcome.AMBIGUOUS, code="timeout")


@dataclass(frozen=True, slots=True)
class Facts:
    """What no documentation says, or what it only bounds; drawn by the seed."""

    retention_s: float
    """How long keys are really remembered; never shorter than promised."""
    kept_from_end: bool
    """Whether that counts from the end of the first request, or from its arrival."""
    spans_credentials: bool
    saves_500: bool
    saves_invalid: bool
    """Whether a refusal of bad parameters is saved under the key."""
    counts_dead: bool
    """Whether effects that failed go on using up what an object can take."""
    lies: bool
    """Whether it breaks its promises: keys forgotten early, work and lists that are overdue."""

    @classmethod
    def drawn(cls, draw: Random) -> "Facts":
        """One world's."""
        lies = draw.random() < 0.12
        retention_s = draw.choice([DAY_S, DAY_S, 25 * HOUR_S, 30 * DAY_S])
        return cls(
            retention_s=HOUR_S / 6 if lies else retention_s,
            lies=lies,
            kept_from_end=draw.random() < 0.5,
            spans_credentials=draw.random() < 0.5,
            saves_500=draw.random() < 0.5,
            saves_invalid=draw.random() < 0.5,
            counts_dead=draw.random() < 0.3,
        )


@dataclass(eq=False, slots=True)
class Deed:
    """One true effect."""

    reference: str
    object_id: str
    money: Money | None
    at_s: float
    marker: Marker | None = None
    """`None`: done by hand, at the provider itself."""
    liveness: Liveness = Liveness.SUCCEEDED
    shown_from_s: float = 0.0
    stood: bool = False
    """Whether it ever was there for good."""

    def __post_init__(self) -> None:
        """What succeeded at once stood."""
        self.stood = self.liveness is Liveness.SUCCEEDED

    @property
    def operation_id(self) -> UUID | None:
        """Whose it says it is."""
        return None if self.marker is None else self.marker.operation_id

    @property
    def kind(self) -> str:
        """Of effect, as its object's name begins."""
        return self.object_id.removesuffix("_more").rsplit("_", 2)[0]

    @property
    def live(self) -> bool:
        """Whether it stands, or may yet."""
        return self.liveness is not Liveness.DEAD


@dataclass(frozen=True, slots=True)
class Left:
    """A request whose bytes have left."""

    operation_id: UUID
    number: int
    """Of the attempt."""
    credential: str
    at_s: float
    luck: Luck


@dataclass(frozen=True, slots=True)
class Told:
    """How a request is answered."""

    answer: Answer
    after_s: float = 0.0
    fails: bool = False
    """The adapter raises instead."""

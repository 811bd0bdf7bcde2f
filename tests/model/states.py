"""The model's states: plain tuples, so that a million of them fit into memory and into a set.

A step of the model's clock is twelve hours. Whatever takes minutes (a send budget, the settle
time, a lease) is over after one step; a key is forgotten after two. Ages stop at two, since
nobody tells older ones apart. So the space is finite although the clock never ends.
"""

from enum import IntEnum
from typing import Final, NamedTuple

from ledger.model import State
from recovery.case import Action

STEP_S: Final = 12 * 3600.0
"""Seconds in a step of the clock."""

OLD: Final = 2
"""An age of a day or more: the provider has forgotten the key."""

TROUBLE: Final = -1
"""Instead of a number of effects: the look-up said nothing."""

UNKNOWN: Final = -1
"""Instead of a key's age: the provider does not know the key."""


class Said(IntEnum):
    """What is recorded of an attempt."""

    __hash__ = int.__hash__

    NOTHING = 0
    """No outcome: its sender may be gone, or still wait."""
    LOST = 1
    """Its sender has waited in vain."""
    NOT_SENT = 2
    """Its deadline had passed before the first byte."""
    REFUSED = 3
    """No for good, said before the key was looked up: speaks for this attempt alone."""
    SAVED_REFUSAL = 4
    """No for good, saved under the key: speaks for every attempt."""
    ACCEPTED = 5


class Step(IntEnum):
    """Where a worker stands. It can be stopped for ever between any two of these."""

    __hash__ = int.__hash__

    IDLE = 0
    LOOKED = 1
    DECIDED = 2
    SENDING = 3
    """The gate has let it through; no byte has left."""
    WAITING = 4
    """The request has left."""


class Tried(NamedTuple):
    """One attempt, as the ledger has it."""

    age: int = 0
    said: Said = Said.NOTHING
    late: bool = False
    """Answered a day or more after its start."""
    renewed: bool = False
    """Sent a day or more after the first one: its key was new to the provider."""


class Record(NamedTuple):
    """One operation, as the ledger has it."""

    state: State = State.CREATED
    tries: tuple[Tried, ...] = ()
    in_doubt: bool = False
    accepted: bool = False
    """A reference stands in the row."""
    leased: bool = False
    expired: bool = False
    revoked: bool = False
    escalated: bool = False
    given_up: bool = False


class Hand(NamedTuple):
    """One worker. `holds` stands for the fence, `knows` for the case version: still the newest?"""

    step: Step = Step.IDLE
    op: int = 0
    holds: bool = False
    knows: bool = False
    age: int = 0
    """How long ago its look-up began."""
    shown: int = 0
    """How many effects it saw, or `TROUBLE`."""
    action: Action | str = ""
    by_person: bool = False
    attempt: int = 0
    earlier: tuple[Said, ...] = ()
    """What it knew of earlier attempts when it sent."""
    reply: Said = Said.NOTHING
    """What the provider's answer says, where it has come."""


class Flight(NamedTuple):
    """A request under way."""

    op: int
    attempt: int
    age: int = 0


class Kept(NamedTuple):
    """What the provider has of one operation: the key with its saved answer, and the effects."""

    key_age: int = UNKNOWN
    refused: bool = False
    effects: int = 0


class Plan(IntEnum):
    """What became of the agent's second plan for the same intent."""

    __hash__ = int.__hash__

    NONE = 0
    AWAITING = 1
    REJECTED = 2
    BY_POLICY = 3
    SEPARATE = 4
    """A person has declared that a second effect is meant."""


class World(NamedTuple):
    """Everything. The second operation stands beside the first from the start, unused."""

    records: tuple[Record, ...] = (Record(), Record())
    hands: tuple[Hand, ...] = (Hand(), Hand())
    flights: tuple[Flight, ...] = ()
    kept: tuple[Kept, ...] = (Kept(), Kept())
    plan: Plan = Plan.NONE

    @property
    def ops(self) -> range:
        """Operations that exist."""
        return range(2 if self.plan >= Plan.BY_POLICY else 1)


IDLE: Final = Hand()
START: Final = World()

"""What the judges say of a world, as values."""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from tests.simulation.actor import Fate

STOPPED: Final = 1
"""The row that no worker comes to by looking: fence or case version are lost *after* that, and the
statement that writes or sends refuses. Each such refusal counts for it."""


class Wrong(StrEnum):
    """Kinds of violation."""

    DUPLICATE = "two effects of one operation"
    INTENT = "two effects for one intent"
    RECORD = "record against truth"
    UNSAFE = "unsafe sending"
    APPROVAL = "not decided as the rules say"
    STUCK = "neither ended nor before a person"
    LATE = "in doubt for longer than stated"
    NEEDLESS = "a person asked what the provider answers"
    LOST = "acknowledged and lost"
    AUDIT = "history not whole"
    FELL = "a process fell over"


@dataclass(frozen=True, slots=True)
class Violation:
    """One."""

    kind: Wrong
    told: str


@dataclass(slots=True)
class Verdict:
    """What the judges say of a world."""

    seed: int
    violations: list[Violation] = field(default_factory=list[Violation])
    rows: Counter[int] = field(default_factory=Counter[int])
    """Decisions, by the table's row."""
    operations: int = 0
    sendings: int = 0
    deeds: int = 0
    questions: Counter[str] = field(default_factory=Counter[str])
    ends: Counter[str] = field(default_factory=Counter[str])
    proposals: Counter[str] = field(default_factory=Counter[str])
    """Those that a person had to decide about, by how they ended."""
    plans: Counter[str] = field(default_factory=Counter[str])
    """What agents set out to do."""
    acts: Counter[str] = field(default_factory=Counter[str])
    """What people did."""
    weather: Counter[str] = field(default_factory=Counter[str])
    """What went wrong around the processes."""
    luck: Counter[str] = field(default_factory=Counter[str])
    """What became of requests."""
    fates: Counter[Fate] = field(default_factory=Counter[Fate])
    steps: int = 0

"""A world that has ended, as the judges and the story get it."""

from collections import Counter
from dataclasses import dataclass
from uuid import UUID

from tests.simulation.agents import Acknowledged, Errand
from tests.simulation.hands import Deeds
from tests.simulation.line import Line
from tests.simulation.provider import Provider
from tests.simulation.stage import Stage


@dataclass(frozen=True, slots=True)
class OffSpan:
    """From when until when the database's clock was off, and by how much."""

    from_s: float
    to_s: float
    off_s: float


@dataclass(slots=True)
class Played:
    """What it was and what became of it; its database still stands."""

    seed: int
    stage: Stage
    line: Line
    provider: Provider
    deeds: Deeds
    errands: list[Errand]
    told: list[Acknowledged]
    faults: list[str]
    storm_s: float
    """When the storm ended."""
    off_spans: list[OffSpan]
    open_until: dict[UUID, tuple[float, str | None]]
    """When an operation was last seen open after the storm, and under which decision."""
    lost: int
    """How often a worker that had decided was stopped by the statement: somebody else was."""
    forgotten: tuple[float, float] | None
    """From when until when nothing is remembered, since a backup was put back."""
    plans: Counter[str]
    weather: Counter[str]

    def is_forgotten(self, at_s: float) -> bool:
        """Whether what was written down at that moment is lost with a database."""
        return self.forgotten is not None and self.forgotten[0] <= at_s <= self.forgotten[1]

"""A world that has ended, as the judges and the story get it."""

from dataclasses import dataclass

from tests.simulation.agents import Acknowledged, Errand
from tests.simulation.line import Line
from tests.simulation.people import Deeds
from tests.simulation.provider import Provider
from tests.simulation.stage import Stage


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
    off_spans: list[tuple[float, float]]
    """From when until when the database's clock was off."""

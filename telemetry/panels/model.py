"""What a dashboard is made of: panels, series, points. Pure.

Every series has one point a bucket. Where nothing happened a count is 0 and anything else is
`None`: a latency of nothing is not 0 s.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Range(StrEnum):
    """How far back."""

    DAY = "24h"
    WEEK = "7d"
    MONTH = "30d"


class Unit(StrEnum):
    """What a number counts."""

    OPERATIONS = "operations"
    MINOR = "minor"
    """The currency's minor unit; the series bears the currency's name."""
    SECONDS = "seconds"
    MILLISECONDS = "milliseconds"
    DECISIONS = "decisions"
    ANSWERS = "answers"
    QUESTIONS = "questions"
    PROPOSALS = "proposals"
    SHARE = "share"
    """From 0 to 1."""


class Source(StrEnum):
    """Who answered."""

    CLICKHOUSE = "clickhouse"
    POSTGRESQL = "postgresql"


class Fallback(StrEnum):
    """Why PostgreSQL answered."""

    NONE_SET = "none_set"
    """There is no ClickHouse."""
    UNREACHABLE = "unreachable"
    """It did not answer in time, or refused."""


_UNITS: Final[Mapping[str, Unit]] = MappingProxyType(
    {
        "operations_by_state": Unit.OPERATIONS,
        "in_doubt": Unit.OPERATIONS,
        "in_doubt_money": Unit.MINOR,
        "in_doubt_oldest": Unit.SECONDS,
        "time_to_truth": Unit.SECONDS,
        "decisions": Unit.DECISIONS,
        "escalations": Unit.QUESTIONS,
        "escalations_oldest": Unit.SECONDS,
        "provider_errors": Unit.ANSWERS,
        "dispatch_latency": Unit.MILLISECONDS,
        "approvals_waiting": Unit.PROPOSALS,
        "approvals_oldest": Unit.SECONDS,
        "approvals_time": Unit.SECONDS,
        "approvals_expired": Unit.SHARE,
    }
)
"""Each panel by its key, in the order in which they are shown."""
KEYS: Final = tuple(_UNITS)
_GAPS: Final = frozenset({Unit.SECONDS, Unit.MILLISECONDS, Unit.SHARE})
_STEPS: Final = MappingProxyType(
    {
        Range.DAY: (timedelta(days=1), timedelta(minutes=30)),
        Range.WEEK: (timedelta(days=7), timedelta(hours=3)),
        Range.MONTH: (timedelta(days=30), timedelta(hours=12)),
    }
)


@dataclass(frozen=True, slots=True)
class Window:
    """Which time is shown: `until` is the ledger's now, the last bucket ends with it."""

    since: datetime
    until: datetime
    step: timedelta

    @classmethod
    def of(cls, span: Range, now: datetime) -> "Window":
        """The window of a range, beginning at a whole step of Unix time."""
        length, step = _STEPS[span]
        at_s = (now - length).timestamp()
        begin_s = at_s - at_s % step.total_seconds()
        return cls(datetime.fromtimestamp(begin_s, now.tzinfo), now, step)

    @property
    def buckets(self) -> tuple[datetime, ...]:
        """Where each bucket begins."""
        found: list[datetime] = []
        at = self.since
        while at < self.until:
            found.append(at)
            at += self.step
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Point:
    """One bucket of a series."""

    at: datetime
    """When the bucket begins."""
    value: float | None


@dataclass(frozen=True, slots=True)
class Series:
    """One line: a state, a currency, a code, a quantile."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """One tile. `key` is also the key of its title."""

    key: str
    unit: Unit
    series: tuple[Series, ...]
    """By name; none where nothing happened."""


@dataclass(frozen=True, slots=True)
class Dashboard:
    """All panels of one range, from one source."""

    span: Range
    window: Window
    source: Source
    fallback: Fallback | None
    """Why it was not ClickHouse; `None` where it was."""
    read_at: datetime
    """When the source was asked, on the ledger's clock."""
    behind_s: float
    """How old the oldest ledger event is that the source lacks; 0 where it lacks none."""
    cut: bool
    """There was more than is looked at: the older part of the range shows too little."""
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """What a source answers: one panel's value of one name in one bucket."""

    panel: str
    name: str
    at: datetime
    value: float


def assemble(cells: Iterable[Cell], window: Window) -> tuple[Panel, ...]:
    """Put cells together: every panel, every series, every bucket."""
    found: defaultdict[str, defaultdict[str, dict[datetime, float]]]
    found = defaultdict(lambda: defaultdict(dict))
    for cell in cells:
        found[cell.panel][cell.name][cell.at] = cell.value
    return tuple(
        Panel(
            key,
            unit,
            tuple(
                Series(name, _points(values, window, unit))
                for name, values in sorted(found[key].items())
            ),
        )
        for key, unit in _UNITS.items()
    )


def _points(values: Mapping[datetime, float], window: Window, unit: Unit) -> tuple[Point, ...]:
    empty = None if unit in _GAPS else 0.0
    return tuple(Point(at, values.get(at, empty)) for at in window.buckets)

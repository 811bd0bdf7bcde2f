"""A dashboard as the page shows it: pictures, a sentence for each, and all numbers. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from markupsafe import Markup

from sidecar.console.catalogs import say_in
from sidecar.console.figures import clock
from sidecar.console.overseeing.drawing import Tick, columns
from sidecar.console.overseeing.marks import marks
from sidecar.console.overseeing.numbers import end_of, number
from sidecar.console.reader import Language, Reader
from telemetry.panels.model import Dashboard, Panel, Point, Series, Unit

SERIES_MOST: Final = 8
"""Pictures of one panel; the others stand in its table."""


def _(text: str) -> str:
    """Marks a text for translation."""
    return text


TITLES: Final = MappingProxyType(
    {
        "in_doubt_money": _("Money in doubt"),
        "in_doubt": _("Operations in doubt"),
        "in_doubt_oldest": _("The oldest in doubt"),
        "time_to_truth": _("Time to truth"),
        "dispatch_latency": _("Answer of the provider"),
        "operations_by_state": _("Operations by state"),
        "decisions": _("Decisions by code"),
        "provider_errors": _("Failed answers of providers"),
        "escalations": _("Open questions by reason"),
        "escalations_oldest": _("The oldest open question"),
        "approvals_waiting": _("Proposals that wait"),
        "approvals_oldest": _("The oldest that waits"),
        "approvals_time": _("Time to a decision"),
        "approvals_expired": _("Share that lapsed"),
    }
)
SECTIONS: Final = (
    (_("In doubt"), ("in_doubt_money", "in_doubt", "in_doubt_oldest")),
    (_("How fast the truth is known"), ("time_to_truth", "dispatch_latency")),
    (_("What happened"), ("operations_by_state", "decisions", "provider_errors")),
    (
        _("People"),
        (
            *("escalations", "escalations_oldest", "approvals_waiting", "approvals_oldest"),
            *("approvals_time", "approvals_expired"),
        ),
    ),
)
"""Money first, since it is looked at first."""
_LEVELS: Final = frozenset(
    {
        *("in_doubt_money", "in_doubt", "in_doubt_oldest", "escalations", "escalations_oldest"),
        *("approvals_waiting", "approvals_oldest"),
    }
)
"""How it stood at the end of each column; the others count or measure what happened in it."""
_DOUBT: Final = frozenset({"in_doubt_money", "in_doubt", "in_doubt_oldest"})
_NAMES: Final = MappingProxyType(
    {
        "created": _("Not sent"),
        "sent": _("Sent"),
        "confirmed": _("Confirmed"),
        "failed": _("Failed"),
        "p50": _("p50"),
        "p95": _("p95"),
        "p99": _("p99"),
    }
)
_SINGLE: Final = frozenset({"operations", "oldest", "proposals", "expired"})
"""Names of a panel's only series, which its title says already."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One series: its name, its sentence, its columns."""

    id: str
    name: str | None
    """`None`: the panel's title says it."""
    coded: bool
    """The name is a code of the ledger's or the provider's."""
    text: str
    svg: Markup = field(repr=False)


@dataclass(frozen=True, slots=True)
class Row:
    """A column of the picture as a row of the table."""

    at: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PanelSaid:
    """One panel."""

    key: str
    title: str
    pictures: tuple[Picture, ...]
    left_out: int
    """Series that stand in the table only."""
    heads: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """Panels that belong together."""

    title: str
    panels: tuple[PanelSaid, ...]
    quiet: tuple[str, ...]
    """Titles of panels where nothing was."""


def sections_of(found: Dashboard, reader: Reader) -> tuple[Section, ...]:
    """Everything on the page. Draws: some tenths of a second where there is much."""
    by_key = {panel.key: panel for panel in found.panels}
    times = marks(found, reader)
    sections: list[Section] = []
    for title, keys in SECTIONS:
        panels = [by_key[key] for key in keys if key in by_key]
        sections.append(
            Section(
                say_in(reader.language, title),
                tuple(_panel(one, found, times, reader) for one in panels if _anything(one)),
                tuple(
                    say_in(reader.language, TITLES[one.key]) for one in panels if not _anything(one)
                ),
            )
        )
    return tuple(sections)


def _anything(panel: Panel) -> bool:
    return any(point.value for one in panel.series for point in one.points)


def _panel(panel: Panel, found: Dashboard, times: Sequence[Tick], reader: Reader) -> PanelSaid:
    language = reader.language
    series = [one for one in panel.series if any(point.value for point in one.points)]
    largest = sorted(series, key=_weight, reverse=True)
    if panel.unit not in {Unit.SECONDS, Unit.MILLISECONDS}:
        series = largest
    shown = series[:SERIES_MOST]
    return PanelSaid(
        key=panel.key,
        title=say_in(language, TITLES[panel.key]),
        pictures=tuple(
            _picture(panel, one, place, found, times, reader) for place, one in enumerate(shown)
        ),
        left_out=len(series) - len(shown),
        heads=tuple(_name(one.name, language) for one in series),
        rows=tuple(
            Row(
                clock(at, found.read_at, reader),
                tuple(
                    number(panel.unit, one.name, one.points[n].value, language) for one in series
                ),
            )
            for n, at in enumerate(found.window.buckets)
        ),
    )


def _picture(
    panel: Panel,
    one: Series,
    place: int,
    found: Dashboard,
    times: Sequence[Tick],
    reader: Reader,
) -> Picture:
    # Each has a scale of its own: a drift of what is small must be seen beside what is large.
    end = end_of(panel.unit, max(_value(point) for point in one.points))
    top = Tick(end, number(panel.unit, one.name, end, reader.language))
    told_by = f"t-{panel.key}-{place}"
    single = one.name in _SINGLE and len(panel.series) == 1
    return Picture(
        id=told_by,
        name=None if single else _name(one.name, reader.language),
        coded=one.name not in _NAMES and panel.unit is not Unit.MINOR,
        text=_sentence(panel, one, found, reader),
        svg=columns(
            [point.value for point in one.points],
            times,
            top,
            doubt=panel.key in _DOUBT,
            told_by=told_by,
        ),
    )


def _sentence(panel: Panel, one: Series, found: Dashboard, reader: Reader) -> str:
    """What the picture says, in words."""

    def say(value: float | None) -> str:
        return number(panel.unit, one.name, value, reader.language)

    peak = max((point for point in one.points if point.value is not None), key=_value)
    values = {"most": say(peak.value), "when": clock(peak.at, found.read_at, reader)}
    if panel.key in _LEVELS:
        last = one.points[-1].value
        text = _("Now %(now)s. Most: %(most)s, %(when)s.")
        return say_in(reader.language, text, now=say(last or 0), **values)
    if panel.unit in {Unit.SECONDS, Unit.MILLISECONDS, Unit.SHARE}:
        last = next(point.value for point in reversed(one.points) if point.value is not None)
        text = _("Last %(last)s. Most: %(most)s, %(when)s.")
        return say_in(reader.language, text, last=say(last), **values)
    total = say(sum(point.value or 0 for point in one.points))
    text = _("%(total)s in all. Most: %(most)s, %(when)s.")
    return say_in(reader.language, text, total=total, **values)


def _value(point: Point) -> float:
    return point.value or 0.0


def _weight(one: Series) -> float:
    return sum(_value(point) for point in one.points)


def _name(name: str, language: Language) -> str:
    known = _NAMES.get(name)
    if known is not None:
        return say_in(language, known)
    return name.upper() if len(name) == len("eur") and name.islower() else name

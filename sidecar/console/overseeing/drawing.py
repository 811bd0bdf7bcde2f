"""Draw a series as columns, on the server: plain attributes, colours of the page's theme. Pure.

Leather draws; three things are ours: the root element (a `viewBox` instead of a fixed size, and
what a screen reader is told), numbers with one decimal, and scales that end at round amounts.
Columns for everything: a line with gaps hides a value that stands alone, and stacked areas hide
all but the lowest. Several series stand beside each other, each in a picture of its own.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import leather
from leather import theme
from markupsafe import Markup, escape

WIDTH: Final = 320
HEIGHT: Final = 104
INK: Final = "var(--ink-3)"
DOUBT: Final = "url(#hatch)"
"""Amber and hatched: whether money moved is not known. Nothing else is drawn so."""
_TEXT: Final = 10
_MARGIN: Final = 0.014
"""Of the width, all around. A float: with an integer leather 0.4.1 reads an unset name."""
_NUMBER: Final = re.compile(r'(?<==")-?\d+\.\d+(?:E[+-]?\d+)?(?=")')
"""Of an attribute: labels are left alone."""
_ROOT: Final = re.compile(r"^<svg [^>]*>")

theme.background_color = "none"
theme.margin = _MARGIN
theme.label_color = "var(--ink-3)"
theme.tick_color = "var(--line)"
theme.zero_color = "var(--edge)"
theme.tick_font_family = "inherit"
theme.tick_font_size = _TEXT
theme.tick_font_char_height = _TEXT
theme.tick_font_char_width = 5.4


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark at an axis."""

    at: float
    """Of the time axis: which column; of the other: the value."""
    label: str


class _UpTo:
    """From 0 to exactly where it is told. Leather's own ends at decimal steps; time does not.

    It has what a chart asks of a scale whose axis names its own marks.
    """

    def __init__(self, top: float) -> None:
        self._top = Decimal(str(top))

    def contains(self, v: float) -> bool:
        """Whether a value has a place."""
        return 0 <= v <= self._top

    def project(self, value: float, range_min: float, range_max: float) -> Decimal:
        """The place of a value."""
        low, high = Decimal(range_min), Decimal(range_max)
        return low + (high - low) * Decimal(value) / self._top


def columns(
    values: Sequence[float | None],
    times: Sequence[Tick],
    top: Tick,
    *,
    doubt: bool,
    told_by: str,
) -> Markup:
    """A picture of values, one column each.

    Args:
        values: One a column; nothing is drawn for 0 and for `None`.
        times: Marks below.
        top: The end of the scale; no value is above it.
        doubt: Money in doubt.
        told_by: The id of the element that says the same in words.
    """
    names = [str(n) for n in range(len(values))]
    drawn = [(name, value or None) for name, value in zip(names, values, strict=True)]
    if all(value is None for _, value in drawn):
        drawn[0] = (names[0], 0.0)  # a picture of nothing still has its axes
    chart = leather.Chart()
    chart.set_x_scale(leather.Ordinal(names))
    chart.set_y_scale(_UpTo(top.at))
    labels = {names[int(tick.at)]: tick.label for tick in times or [Tick(0, "")]}
    chart.add_x_axis(ticks=list(labels), tick_formatter=lambda value, _i, _n: labels[value])
    ends = {Decimal(0): "0", Decimal(str(top.at)): top.label}
    chart.add_y_axis(ticks=list(ends), tick_formatter=lambda value, _i, _n: ends[value])
    chart.add_columns(drawn, fill_color=DOUBT if doubt else INK)
    text = _NUMBER.sub(_short, chart.to_svg(None, WIDTH, HEIGHT))
    root = (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-labelledby="{escape(told_by)}">'
    )
    return Markup(_ROOT.sub(root, text, count=1))  # noqa: S704  leather escapes, and so did we


def _short(found: re.Match[str]) -> str:
    return f"{float(found[0]):.1f}".replace("-0.0", "0.0")


_STEPS: Final = (1, 2, 5)
_SECONDS: Final = (
    *(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300),
    *(600, 1_200, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 432_000),
)


def round_above(value: float) -> float:
    """The next 1, 2 or 5 with zeros that is no smaller; 1 for nothing."""
    step = 1
    while True:
        for first in _STEPS:
            if first * step >= value:
                return first * step
        step *= 10


def round_above_s(seconds: float) -> float:
    """The next length of time that a clock would show."""
    for one in _SECONDS:
        if one >= seconds:
            return one
    return round_above(seconds / 86_400) * 86_400

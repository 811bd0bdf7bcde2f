"""Marks of a picture's time, on the reader's clock. Pure."""

from datetime import datetime
from itertools import pairwise
from typing import Final

from babel.dates import format_date

from sidecar.console.overseeing.drawing import Tick
from sidecar.console.reader import Language, Reader
from telemetry.panels.model import Dashboard, Range

_EDGE: Final = 0.06
"""So near to an end of the picture a mark would stick out."""


def marks(found: Dashboard, reader: Reader) -> list[Tick]:
    """Marks where the reader's clock is at a round time: 6 hours, a new day, a Monday."""
    buckets = [at.astimezone(reader.tz) for at in found.window.buckets]
    marks = [_mark(local, found.span) for local in buckets]
    return [
        Tick(n, _marked(buckets[n], found.span, reader.language))
        for n, (before, mark) in enumerate(pairwise(marks), start=1)
        if mark is not None and mark != before and _EDGE < (n + 0.5) / len(buckets) < 1 - _EDGE
    ]


def _mark(local: datetime, span_of: Range) -> str | None:
    """What the mark of a column stands for; columns of the same mark share one."""
    match span_of:
        case Range.DAY:
            return f"{local:%d %H}" if local.hour % 6 == 0 else None
        case Range.WEEK:
            return f"{local:%d}"
        case Range.MONTH:
            return f"{local:%V}"


def _marked(local: datetime, span_of: Range, language: Language) -> str:
    if span_of is Range.DAY:
        return f"{local:%H:%M}"
    pattern = "EEE" if span_of is Range.WEEK else "d MMM"
    return format_date(local.date(), pattern, locale=language.value)

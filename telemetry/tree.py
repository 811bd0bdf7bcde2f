"""A timeline as text for a terminal. Pure. Texts from traces are foreign: no control characters."""

import unicodedata
from collections.abc import Iterable, Sequence

from telemetry.timeline import Entry, Timeline, iso

_SPAN_INDENT = "  "
_DEPTH_MOST = 8


def render(timeline: Timeline) -> str:
    """One line a thing, oldest first; spans below the span that they belong to; gaps last."""
    depths = _depths(timeline.entries)
    lines = [f"operation {timeline.operation_id}"]
    lines += [_line(entry, depth) for entry, depth in zip(timeline.entries, depths, strict=True)]
    if timeline.gaps:
        lines += ["", "missing:"]
        lines += [f"  - {plain(gap.text)}" for gap in timeline.gaps]
    return "\n".join(lines)


def plain(text: str) -> str:
    """What a terminal can't be steered with: control and format characters become visible."""
    return "".join(
        char if unicodedata.category(char)[0] != "C" else f"\\x{ord(char):02x}" for char in text
    )


def _line(entry: Entry, depth: int) -> str:
    parts = [iso(entry.at_ns), f"{entry.source.value:<8}", _SPAN_INDENT * depth + plain(entry.name)]
    if entry.duration_ns is not None:
        parts.append(f"{entry.duration_ns / 1e6:.1f} ms")
    if entry.status:
        parts.append(plain(entry.status).upper())
    parts += [f"{plain(key)}={plain(value)}" for key, value in entry.details.items()]
    if entry.who:
        parts.append(f"({plain(entry.who)})")
    return "  ".join(parts)


def _depths(entries: Sequence[Entry]) -> Iterable[int]:
    """How deep each span sits below another that is shown."""
    parents = {
        (entry.source, entry.trace_id, entry.span_id): entry.parent_span_id
        for entry in entries
        if entry.span_id is not None and entry.duration_ns is not None
    }
    for entry in entries:
        depth, parent = 0, entry.parent_span_id
        while parent is not None and depth < _DEPTH_MOST:
            key = (entry.source, entry.trace_id, parent)
            if key not in parents:
                break
            depth, parent = depth + 1, parents[key]
        yield depth

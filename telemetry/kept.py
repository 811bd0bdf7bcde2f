"""A timeline as it is kept beside a question: what came from outside the ledger; gaps. Pure.

Events and attempts stay where they are, so that they can be erased there, and once.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from telemetry.timeline import Entry, Gap, Source, Timeline

MOST: Final = 200
"""Entries that are kept; whoever wants all asks for the evidence itself."""
_OURS: Final = frozenset({Source.LEDGER, Source.ATTEMPTS})
_CUT: Final = Gap("cut", f"more than {MOST} spans and records: not all are kept", Source.TRACES)


def keep(timeline: Timeline) -> dict[str, Any]:
    """What is stored: the latest entries from outside, and every gap."""
    outside = tuple(entry for entry in timeline.entries if entry.source not in _OURS)
    cut = (_CUT,) if len(outside) > MOST else ()
    return replace(timeline, entries=outside[-MOST:], gaps=(*timeline.gaps, *cut)).as_json()


def kept(stored: Mapping[str, Any]) -> Timeline:
    """What was stored, as it was."""
    return Timeline(
        UUID(stored["operation"]),
        tuple(Entry(**_known(one)) for one in stored["entries"]),
        tuple(Gap(**_known(one)) for one in stored["gaps"]),
    )


def _known(stored: Mapping[str, Any]) -> dict[str, Any]:
    known = {name: value for name, value in stored.items() if name != "at"}
    return {**known, "source": Source(stored["source"])}

"""What the demo shows of traces, with and without a trace store."""

import io
import sys
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest
from rich.console import Console

from sidecar.demo import evidence

OPERATION = UUID("01a22cc5-4696-7280-9cff-4c2139d32b32")


def shown(*rows: tuple[object, ...]) -> str:
    """What is printed of these rows."""
    out = io.StringIO()
    evidence.show(Console(file=out, width=160), rows)
    return out.getvalue()


def test_a_lost_attempt_is_one_line_from_the_agent_to_the_record() -> None:
    """Who asked in which trace, the hole, where recovery took it up, what became of it."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    asked = (OPERATION, "stripe.refund", "agent:a\x1b[2J", "f" * 32, 1)
    told = shown((*asked, 1, at, 1, "9" * 32, "SAFE_REPLAY", "confirmed"))
    for part in (
        "01a22cc5-4696-7280-9cff",
        "agent:a\\u001b[2J",
        "ffffffff",
        "1: process lost",
        "99999999",
    ):
        assert part in told
    assert "SAFE_REPLAY" in told


def test_without_anything_to_tell_nothing_is_printed() -> None:
    """No empty table."""
    assert shown() == ""


async def test_without_the_extra_the_demo_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The promise does not need traces."""
    monkeypatch.setitem(sys.modules, "chdb", None)  # how Python says: there is none
    async with evidence.trace_store(tmp_path) as url:
        assert url is None
        assert await evidence.one_story(tmp_path, url) == []

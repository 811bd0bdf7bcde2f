"""What tells a repeated call from a new one."""

from datetime import UTC, datetime
from typing import Any

import pytest

from ledger.errors import InvalidInput
from ledger.runs import call_key
from sidecar.mcp.naming import named

NOW = datetime(2026, 11, 30, 13, tzinfo=UTC)


def key(meta: dict[str, Any], digest: str = "d") -> str:
    """The request key of a call."""
    return named(meta, digest=digest, now=NOW).request_key


def test_a_key_of_the_caller_comes_first() -> None:
    """Before Claude Code's id and before the arguments."""
    assert key({"outlive/call-key": "k", "claudecode/toolUseId": "t"}) == "key:k"


def test_a_call_of_a_run_has_the_key_that_the_run_gives_it() -> None:
    """So that a call made here and a call handed over at suspension are one request."""
    meta = {"outlive/run": "run 1", "claudecode/toolUseId": "toolu#1"}
    assert key(meta) == call_key("run 1", "toolu#1")


def test_a_call_without_a_name_is_told_by_its_arguments_run_and_day() -> None:
    """Other arguments, another run or another day make another request."""
    assert key({}) == key({})
    assert key({}) != key({}, digest="e")
    assert key({}) != key({"outlive/run": "r"})
    assert key({"outlive/run": "r"}) == key({"outlive/run": "r", "traceparent": "x"})
    tomorrow = named({}, digest="d", now=NOW.replace(month=12, day=1))
    assert key({}) != tomorrow.request_key


@pytest.mark.parametrize("name", [7, "", "x" * 201, "ñ", "a\n"])
@pytest.mark.parametrize("field", ["outlive/call-key", "outlive/run", "claudecode/toolUseId"])
def test_a_name_that_can_not_be_kept_is_refused(field: str, name: object) -> None:
    """It would otherwise be cut or changed, and meet another request."""
    with pytest.raises(InvalidInput):
        key({field: name})


def test_a_trace_context_that_is_none_is_left_out() -> None:
    """It only ever is evidence."""
    assert named({"traceparent": 7}, digest="d", now=NOW).trace_context is None
    assert named({"traceparent": "00-a"}, digest="d", now=NOW).trace_context == "00-a"

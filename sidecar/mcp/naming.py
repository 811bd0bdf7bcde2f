"""What tells a repeated call from a new one, and where a call belongs. Pure.

MCP gives a call no name that survives a retry: a request id is a counter that begins anew with
each client. So whoever calls may name the call in `_meta`; without a name, the same call on the
same day is the same request.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote
from uuid import UUID

from ledger.errors import InvalidInput

CALL_KEY: Final = "outlive/call-key"
"""The caller's own name for the call; the same as an `Idempotency-Key` over HTTP."""
RUN_ID: Final = "outlive/run-id"
CLAUDE_CODE: Final = "claudecode/toolUseId"
"""Sent by Claude Code with each call."""

_MOST: Final = 200
_PLAIN: Final = "!$&'()*+,/:;=?@[]~ "


@dataclass(frozen=True, slots=True)
class Named:
    """A call's names."""

    request_key: str
    tool_call_id: str | None
    run_id: UUID | None
    trace_context: str | None


def named(meta: Mapping[str, Any], *, digest: str, now: datetime) -> Named:
    """Read a call's names from its `_meta`.

    Args:
        meta: What came with the call.
        digest: Of the tool and its arguments.
        now: The ledger's time.

    Raises:
        InvalidInput: A name can't be used.
    """
    run_id = _run_id(meta)
    tool_call_id = _name(meta, CLAUDE_CODE)
    call_key = _name(meta, CALL_KEY)
    if call_key is not None:
        key = f"key:{_quoted(call_key)}"
    elif tool_call_id is not None:
        key = f"call:{run_id or 'mcp'}:{_quoted(tool_call_id)}"
    else:
        key = f"args:{run_id or now.date().isoformat()}:{digest}"
    return Named(key, tool_call_id or call_key, run_id, _trace_context(meta))


def _run_id(meta: Mapping[str, Any]) -> UUID | None:
    given = _name(meta, RUN_ID)
    if given is None:
        return None
    try:
        return UUID(given)
    except ValueError:
        raise InvalidInput(f"_meta[{RUN_ID!r}] must be a run's id") from None


def _name(meta: Mapping[str, Any], field: str) -> str | None:
    given = meta.get(field)
    if given is None:
        return None
    if not isinstance(given, str) or not 0 < len(given) <= _MOST:
        raise InvalidInput(f"_meta[{field!r}] must be a text of 1 to {_MOST} characters")
    if not given.isascii() or not given.isprintable():
        raise InvalidInput(f"_meta[{field!r}] must be visible ASCII")
    return given


def _quoted(name: str) -> str:
    return quote(name, safe=_PLAIN)


def _trace_context(meta: Mapping[str, Any]) -> str | None:
    """W3C trace context in unprefixed keys.

    Source: https://modelcontextprotocol.io/seps/414-request-meta
    """
    given = meta.get("traceparent")
    good = isinstance(given, str) and 0 < len(given) <= _MOST and given.isascii()
    return given if good else None

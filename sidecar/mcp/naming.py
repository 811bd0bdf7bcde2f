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

from ledger.errors import InvalidInput
from ledger.runs import call_key as calls_key

CALL_KEY: Final = "outlive/call-key"
"""The caller's own name for the call; the same as an `Idempotency-Key` over HTTP."""
RUN: Final = "outlive/run"
"""The agent's own name of its run."""
CLAUDE_CODE: Final = "claudecode/toolUseId"
"""Sent by Claude Code with each call."""

_MOST: Final = 200
_PLAIN: Final = "!$&'()*+,/:;=?@[]~ "


@dataclass(frozen=True, slots=True)
class Named:
    """A call's names."""

    request_key: str
    tool_call_id: str | None
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
    run = _name(meta, RUN)
    tool_use, call_key = _name(meta, CLAUDE_CODE), _name(meta, CALL_KEY)
    if call_key is not None:
        key = f"key:{quote(call_key, safe=_PLAIN)}"
    elif tool_use is not None:
        key = calls_key(run or "mcp", tool_use)
    else:
        key = f"args:{run or now.date().isoformat()}:{digest}"
    return Named(key, tool_use or call_key, _trace_context(meta))


def _name(meta: Mapping[str, Any], field: str) -> str | None:
    given = meta.get(field)
    if given is None:
        return None
    if not isinstance(given, str) or not 0 < len(given) <= _MOST:
        raise InvalidInput(f"_meta[{field!r}] must be a text of 1 to {_MOST} characters")
    if not given.isascii() or not given.isprintable():
        raise InvalidInput(f"_meta[{field!r}] must be visible ASCII")
    return given


def _trace_context(meta: Mapping[str, Any]) -> str | None:
    """W3C trace context in unprefixed keys.

    Source: https://modelcontextprotocol.io/seps/414-request-meta
    """
    given = meta.get("traceparent")
    good = isinstance(given, str) and 0 < len(given) <= _MOST and given.isascii()
    return given if good else None

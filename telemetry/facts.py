"""Every event of the ledger as one row for ClickHouse. Pure.

Free words (a person's reason, an agent's rationale) stay in PostgreSQL, where they can be erased:
what is copied are ids, amounts, states and codes.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from telemetry.scrub import scrub_text

COLUMNS: Final = (
    "ledger_id",
    "operation_id",
    "seq",
    "event_id",
    "kind",
    "actor",
    "at",
    "type",
    "provider",
    "account",
    "target",
    "amount_minor",
    "currency",
    "requested_by",
    "agent_trace_id",
    "attempt",
    "trace_id",
    "span_id",
    "state",
    "outcome",
    "provider_code",
    "http_status",
    "request_id",
    "reference",
    "decision",
    "action",
)
_TRACEPARENT: Final = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")
_REACHED: Final = {"authorized": "created", "sent": "sent"}
"""The state that an event leads to whose payload need not say so."""
_DECIDING: Final = frozenset({"decided", "verdict"})


def fact(ledger_id: UUID, row: Mapping[str, Any]) -> list[Any]:
    """One row of `read_facts`, in the order of `COLUMNS`."""
    told: Mapping[str, Any] = json.loads(row["payload"] or "{}")
    deciding = row["kind"] in _DECIDING
    code = _word(told.get("code"))
    agent = _TRACEPARENT.fullmatch(row["trace_context"] or "")
    return [
        ledger_id,
        row["operation_id"],
        row["seq"],
        row["id"],
        row["kind"],
        _word(row["actor"]),
        row["at"],
        row["type"] or "",
        row["provider"] or "",
        row["account"] or "",
        row["target"] or "",
        row["amount_minor"],
        row["currency"] or "",
        _word(row["requested_by"]),
        "" if agent is None else agent[1],
        told.get("attempt") or row["number"] or 0,
        row["trace_id"] or "",
        row["span_id"] or "",
        _state(row["kind"], told),
        _word(told.get("outcome")),
        "" if deciding else code,
        told.get("http_status") or 0,
        _word(told.get("request_id")),
        _word(told.get("reference")),
        code if deciding else "",
        _word(told.get("action")),
    ]


def _state(kind: str, told: Mapping[str, Any]) -> str:
    """The state that an event led to: none where a decision left its operation where it stood."""
    if kind == "decided" and not str(told.get("action")).startswith("finish"):
        return ""
    return _word(told.get("state")) or _REACHED.get(kind, "")


def _word(value: object) -> str:
    return "" if value is None else scrub_text(str(value))

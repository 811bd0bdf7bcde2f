"""What agents are offered: each operation type as a tool, and two to ask and to take back. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import mcp_types as mcp

from dispatcher.provider import OperationType
from ledger.model import Risk

STATUS: Final = "operation_status"
WITHDRAW: Final = "withdraw_proposal"
WAIT_MOST_S: Final = 20
"""Clients give up on a call after some time, often 30 s; an answer has to come before that."""

_OURS: Final = frozenset({"items", "words"})
_HOW: Final = (
    "Moves real money or changes real data, so a person may have to approve it first. Give the "
    "fields of one item, or `items` for a batch that is decided as one. It returns at once: a "
    "result with status awaiting_approval was NOT executed. Do what `instruction` says, and never "
    "repeat the call with other parameters, in parts or through another tool."
)
_ID: Final = {
    "type": "string",
    "format": "uuid",
    "description": "A proposal_id, or an operation_id, from an earlier result.",
}
_RESULT: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "ok": {"type": "boolean"},
        "status": {"type": "string", "description": "How it stands."},
        "instruction": {"type": "string", "description": "What to do, and what not to do, now."},
        "proposal_id": {"type": ["string", "null"], "description": "Ask with operation_status."},
        "executed_input": {"description": "What was done, if it differs from what was asked too."},
        "reason": {"type": ["string", "null"]},
        "decided_by": {"type": ["string", "null"]},
        "items": {"type": "array", "items": {"type": "object"}},
        "operation_ids": {"type": "array", "items": {"type": "string"}},
        "repeated": {"type": "boolean", "description": "This request came before; not done twice."},
    },
    "required": ["ok", "status", "instruction"],
}


def tool_name(kind: OperationType) -> str:
    """`stripe.refund` as `stripe_refund`: some models' APIs allow no dot in a name."""
    return kind.name.replace(".", "_")


def tools(kinds: Iterable[OperationType]) -> list[mcp.Tool]:
    """Everything that is offered."""
    return [*(_proposing(kind) for kind in kinds), _status(), _withdraw()]


def input_schema(kind: OperationType) -> dict[str, Any]:
    """One item's fields, or `items`.

    The choice between them is told in words and checked when called: models' APIs refuse schemas
    whose top level is a choice.

    Raises:
        ValueError: A field of the type has a name that is ours.
    """
    item = dict(kind.parameters_schema)
    definitions = item.pop("$defs", None)
    properties: dict[str, Any] = dict(item.get("properties", {}))
    if taken := _OURS & properties.keys():
        raise ValueError(f"{kind.name} has a field named {min(taken)}, which every tool has")
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            **properties,
            "items": {
                "type": "array",
                "minItems": 1,
                "items": item,
                "description": "Instead of the other fields: several items, decided as one.",
            },
            "words": {
                "type": "string",
                "maxLength": 4_000,
                "description": "Why, in your own words; the person who decides reads it.",
            },
        },
        "additionalProperties": False,
    }
    return schema if definitions is None else {**schema, "$defs": definitions}


def _proposing(kind: OperationType) -> mcp.Tool:
    undo = kind.words.undo
    return mcp.Tool(
        name=tool_name(kind),
        title=kind.words.title(1),
        description=" ".join((kind.words.about, _HOW, *(() if undo is None else (undo,)))),
        input_schema=input_schema(kind),
        output_schema=dict(_RESULT),
        annotations=mcp.ToolAnnotations(
            read_only_hint=kind.risk is Risk.READ_ONLY,
            destructive_hint=kind.risk is Risk.IRREVERSIBLE,
            idempotent_hint=True,
            open_world_hint=True,
        ),
    )


def _status() -> mcp.Tool:
    return mcp.Tool(
        name=STATUS,
        title="How a request stands",
        description="Says how an earlier request stands, and what to do. Changes nothing. A "
        "person's decision can take days: do not ask again and again in one turn.",
        input_schema={
            "type": "object",
            "properties": {
                "id": dict(_ID),
                "wait_s": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": WAIT_MOST_S,
                    "description": "Seconds to wait for an end before answering.",
                },
            },
            "required": ["id"],
            "additionalProperties": False,
        },
        output_schema=dict(_RESULT),
        annotations=mcp.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )


def _withdraw() -> mcp.Tool:
    return mcp.Tool(
        name=WITHDRAW,
        title="Take a request back",
        description="Takes back your own request while nobody has decided about it. What was "
        "approved can't be taken back here.",
        input_schema={
            "type": "object",
            "properties": {
                "id": {**_ID, "description": "The proposal_id of your request."},
                "reason": {"type": "string", "minLength": 1, "maxLength": 2_000},
            },
            "required": ["id", "reason"],
            "additionalProperties": False,
        },
        output_schema=dict(_RESULT),
        annotations=mcp.ToolAnnotations(
            read_only_hint=False, destructive_hint=False, idempotent_hint=True
        ),
    )

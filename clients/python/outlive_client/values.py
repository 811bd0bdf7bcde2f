"""What the ledger answers, as values."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self


class Status(StrEnum):
    """How a tool call stands."""

    EXECUTED = "executed"
    EXECUTED_WITH_CHANGES = "executed_with_changes"
    EXECUTED_AFTER_NEW_APPROVAL = "executed_after_new_approval"
    PARTLY_EXECUTED = "partly_executed"
    AWAITING_APPROVAL = "awaiting_approval"
    SENDING = "sending"
    PENDING = "pending"
    IN_DOUBT = "in_doubt"
    REJECTED = "rejected"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    FAILED_WITHOUT_EFFECT = "failed_without_effect"
    DEFERRED = "deferred"
    OTHER = "other"
    """One that this version of the client does not know; see `Result.as_json`."""

    @classmethod
    def _missing_(cls, value: object) -> "Status":  # noqa: ARG003  whatever it is
        return cls.OTHER


NOT_ENDED = frozenset(
    {Status.AWAITING_APPROVAL, Status.SENDING, Status.PENDING, Status.IN_DOUBT, Status.OTHER}
)
"""Statuses after which something still happens."""


@dataclass(frozen=True, slots=True)
class Result:
    """What to tell the model: how it stands, and what to do. Hand it on as it is."""

    ok: bool
    status: Status
    instruction: str
    proposal_id: str | None
    executed_input: Any
    reason: str | None
    decided_by: str | None
    items: Sequence[Mapping[str, Any]]
    as_json: Mapping[str, Any] = field(repr=False)
    """As it came."""

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Self:
        """Read one."""
        return cls(
            ok=bool(told.get("ok")),
            status=Status(told.get("status", Status.OTHER)),
            instruction=told.get("instruction", ""),
            proposal_id=told.get("proposal_id"),
            executed_input=told.get("executed_input"),
            reason=told.get("reason"),
            decided_by=told.get("decided_by"),
            items=tuple(told.get("items", ())),
            as_json=told,
        )

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.status not in NOT_ENDED

    @property
    def text(self) -> str:
        """The tool result as text, for the model."""
        return json.dumps(self.as_json, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Standing:
    """How a request stands."""

    proposal_id: str
    operation_ids: tuple[str, ...]
    result: Result
    repeated: bool
    """The request came before; this is what it made then."""
    as_json: Mapping[str, Any] = field(repr=False)

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Self:
        """Read one: the answer to a request, or a proposal."""
        proposal: Mapping[str, Any] = told.get("proposal", told)
        ids: Sequence[str] = told.get("operation_ids") or [
            item["operation_id"] for item in told.get("item_list", ())
        ]
        return cls(
            proposal_id=proposal["id"],
            operation_ids=tuple(ids),
            result=Result.of(told["result"]),
            repeated=bool(told.get("repeated")),
            as_json=told,
        )

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.result.ended


class RunState(StrEnum):
    """Where a run stands."""

    SUSPENDED = "suspended"
    READY = "ready"
    """Every call has its result: claim it."""
    CLAIMED = "claimed"
    RESUMED = "resumed"


@dataclass(frozen=True, slots=True)
class NewCall:
    """A tool call of a turn that is handed over."""

    tool_call_id: str
    name: str
    """The operation type, for a call that goes through the ledger."""
    items: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    """Parameters of one item, or a list of them."""
    result: Mapping[str, Any] | str | None = None
    """What the agent's own execution gave, for a call that it has executed itself."""

    def as_json(self) -> dict[str, Any]:
        """The form that is sent."""
        items = [self.items] if isinstance(self.items, Mapping) else list(self.items)
        return {
            "tool_call_id": self.tool_call_id,
            "name": self.name,
            "items": [dict(item) for item in items],
            "result": self.result,
        }


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of a run's current turn."""

    tool_call_id: str
    name: str
    status: str
    proposal_id: str | None
    result: Mapping[str, Any] | None
    """Its tool result, once it has one."""

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Self:
        """Read one."""
        return cls(
            tool_call_id=told["tool_call_id"],
            name=told["name"],
            status=told["status"],
            proposal_id=told.get("proposal_id"),
            result=told.get("result"),
        )


@dataclass(frozen=True, slots=True)
class Run:
    """A run as it stands."""

    id: str
    run_key: str
    state: RunState
    turn: int
    generation: int
    """Of the last claim: what its holder presents."""
    steps_used: int
    checkpoint: Any
    """What the agent handed over."""
    calls: tuple[Call, ...]

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Self:
        """Read one."""
        return cls(
            id=told["id"],
            run_key=told["run_key"],
            state=RunState(told["state"]),
            turn=told["turn"],
            generation=told["generation"],
            steps_used=told["steps_used"],
            checkpoint=told.get("checkpoint"),
            calls=tuple(Call.of(call) for call in told.get("calls", ())),
        )

    @property
    def results(self) -> dict[str, Any]:
        """Tool results by tool call id: what the model is told when the run goes on."""
        return {call.tool_call_id: call.result for call in self.calls if call.result is not None}

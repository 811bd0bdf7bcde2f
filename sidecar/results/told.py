"""Tool results: what a model is told, so that it carries on and never works around. Pure.

A result only explains; what enforces is the gate, and the ledger's notice of repeats. The texts,
and the line for an agent's system prompt that goes with them, are in `result_texts.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ledger.model import Json, Operation, State
from ledger.proposals import Proposal, ProposalState
from sidecar.results.texts import INSTRUCTIONS, Status

ENDED: Final = frozenset(
    {
        Status.EXECUTED,
        Status.EXECUTED_WITH_CHANGES,
        Status.EXECUTED_AFTER_NEW_APPROVAL,
        Status.PARTLY_EXECUTED,
        Status.REJECTED,
        Status.EXPIRED,
        Status.WITHDRAWN,
        Status.FAILED_WITHOUT_EFFECT,
    }
)

_OK: Final = frozenset(
    {
        Status.EXECUTED,
        Status.EXECUTED_WITH_CHANGES,
        Status.EXECUTED_AFTER_NEW_APPROVAL,
        Status.SENDING,
        Status.PENDING,
    }
)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool call answers."""

    ok: bool
    status: Status
    proposal_id: str | None
    executed_input: Json
    reason: str | None
    decided_by: str | None
    instruction: str
    items: tuple[Mapping[str, Json], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The form that leaves through every door."""
        return {
            "ok": self.ok,
            "status": self.status.value,
            "proposal_id": self.proposal_id,
            "executed_input": self.executed_input,
            "reason": self.reason,
            "decided_by": self.decided_by,
            "instruction": self.instruction,
            "items": [dict(item) for item in self.items],
        }


def tool_result(
    proposal: Proposal, operations: Sequence[Operation], *, language: str = "en"
) -> ToolResult:
    """Say how a proposal, and the operations that came of it, stand."""
    status = _status(proposal, operations)
    executed = status in {
        Status.EXECUTED,
        Status.EXECUTED_WITH_CHANGES,
        Status.EXECUTED_AFTER_NEW_APPROVAL,
        Status.PARTLY_EXECUTED,
        Status.PENDING,
    }
    done = [dict(o.parameters) for o in operations if o.state is State.CONFIRMED or o.reference]
    return ToolResult(
        ok=status in _OK,
        status=status,
        proposal_id=str(proposal.id),
        executed_input=done if executed else None,
        reason=_reason(proposal, operations, status),
        decided_by=proposal.decided_by,
        instruction=instruction(status, language),
        items=tuple(_item(operation) for operation in operations),
    )


def deferred(behind: str, *, language: str = "en") -> ToolResult:
    """The result of a call that stands behind one that waits."""
    return ToolResult(
        ok=False,
        status=Status.DEFERRED,
        proposal_id=None,
        executed_input=None,
        reason=f"behind {behind}",
        decided_by=None,
        instruction=instruction(Status.DEFERRED, language),
    )


def instruction(status: Status, language: str) -> str:
    """What the model is told to do; English where a language is not known."""
    return INSTRUCTIONS.get(language, INSTRUCTIONS["en"])[status]


def _status(proposal: Proposal, operations: Sequence[Operation]) -> Status:
    match proposal.state:
        case ProposalState.AWAITING | ProposalState.SUPERSEDED:
            return Status.AWAITING_APPROVAL
        case ProposalState.REJECTED:
            return Status.REJECTED
        case ProposalState.EXPIRED:
            return Status.EXPIRED
        case ProposalState.WITHDRAWN:
            return Status.WITHDRAWN
        case ProposalState.APPROVED:
            return _status_of_sent(proposal, operations)


def _status_of_sent(proposal: Proposal, operations: Sequence[Operation]) -> Status:
    unfinished = [operation for operation in operations if not operation.final]
    if any(_unsure(operation) for operation in unfinished):
        return Status.IN_DOUBT
    if unfinished:
        accepted = all(operation.reference is not None for operation in unfinished)
        return Status.PENDING if accepted else Status.SENDING
    states = {operation.state for operation in operations}
    if states == {State.FAILED}:
        return Status.FAILED_WITHOUT_EFFECT
    if State.FAILED in states:
        return Status.PARTLY_EXECUTED
    if proposal.asked_again:
        return Status.EXECUTED_AFTER_NEW_APPROVAL
    return Status.EXECUTED_WITH_CHANGES if proposal.changed else Status.EXECUTED


def _unsure(operation: Operation) -> bool:
    """Whether nobody knows what it did; one whose first answer is still awaited is being sent."""
    being_sent = (
        operation.owner is not None
        and operation.attempt_count == 1
        and operation.attempts[-1].answer is None
    )
    asked = operation.escalated or operation.never_send
    return asked or (operation.in_doubt and not being_sent)


def _reason(proposal: Proposal, operations: Sequence[Operation], status: Status) -> str | None:
    if status in {Status.FAILED_WITHOUT_EFFECT, Status.PARTLY_EXECUTED}:
        codes = {operation.failure_code for operation in operations if operation.failure_code}
        return ", ".join(sorted(codes)) or None
    return proposal.reason


def _item(operation: Operation) -> dict[str, Json]:
    return {
        "operation_id": str(operation.id),
        "item": operation.item,
        "state": operation.state.value,
        "in_doubt": operation.in_doubt,
        "reference": operation.reference,
        "failure_code": operation.failure_code,
    }

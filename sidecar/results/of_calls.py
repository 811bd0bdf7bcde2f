"""The result of each call of a turn, from how its proposal and operations stand. Pure.

Several calls of a turn may have been asked for together, a person may have changed the batch, items
that existed already may have been left out: each call is told of its own items only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import UUID

from ledger.model import Json, Operation
from ledger.proposals import Proposal, ProposalState
from ledger.runs import Call, CallStatus, Move
from sidecar.results.texts import Status
from sidecar.results.told import ENDED, ToolResult, instruction, tool_result

LEFT_OUT: Final = "a person left it out when approving the others"
OVERTAKEN: Final = "the world changed before it was sent, and the provider refuses it as it is now"


@dataclass(frozen=True, slots=True)
class Asked:
    """A proposal as it was made, what has become of it, and what its request repeated."""

    first: Proposal
    newest: Proposal
    operations: Sequence[Operation]
    """Of the newest version, once it is approved."""
    targets: Mapping[int, str] = field(default_factory=dict[int, str])
    """By item of the first version."""
    already: Mapping[int, tuple[UUID, ...]] = field(default_factory=dict[int, tuple[UUID, ...]])
    """Items of the request that were not asked for, since operations like them existed."""
    older: Mapping[UUID, tuple[Proposal, Operation]] = field(
        default_factory=dict[UUID, tuple[Proposal, Operation]]
    )


def result_of(call: Call, asked: Asked, language: str = "en") -> ToolResult:
    """How one call stands."""
    numbers = range(call.item or 1, (call.item or 1) + len(call.input))
    fresh = [number for number in numbers if number not in asked.already]
    if not fresh:
        return _of_older(numbers, asked, language)
    if asked.newest.state is not ProposalState.APPROVED:
        return tool_result(asked.newest, (), language=language)
    own = _own(fresh, asked)
    if not own:
        return _left_out(asked, language)
    result = tool_result(asked.newest, own, language=language)
    repeated = [n for n in numbers if n in asked.already]
    return replace(result, items=(*result.items, *(_repeated(n, asked) for n in repeated)))


def end_of(call: Call, result: ToolResult) -> Move | None:
    """What a call is told when its run becomes ready; `None`: it has not ended."""
    if result.status is Status.AWAITING_APPROVAL:
        return None
    after = CallStatus.DONE if result.status in ENDED else CallStatus.IN_DOUBT
    return Move(call.position, call.status, after, result=result.as_json())


def refused(reason: str, language: str = "en") -> dict[str, Any]:
    """The result of a call that could not even be proposed."""
    return _plain(Status.FAILED_WITHOUT_EFFECT, reason, language)


def set_aside(reason: str, language: str = "en") -> dict[str, Any]:
    """The result of a call that is not executed."""
    return _plain(Status.DEFERRED, reason, language)


def _plain(status: Status, reason: str, language: str) -> dict[str, Any]:
    told = instruction(status, language)
    return ToolResult(False, status, None, None, reason, None, told).as_json()


def _own(fresh: Sequence[int], asked: Asked) -> list[Operation]:
    """The operations that came of a call's items, whatever was left out before them."""
    if asked.newest.id == asked.first.id:
        items = {_item(number, asked) for number in fresh}
        return [operation for operation in asked.operations if operation.item in items]
    targets = {asked.targets.get(_item(number, asked)) for number in fresh}
    return [operation for operation in asked.operations if operation.target in targets]


def _item(number: int, asked: Asked) -> int:
    """The item of the proposal that an item of the request became."""
    return number - sum(1 for other in asked.already if other < number)


def _of_older(numbers: Sequence[int], asked: Asked, language: str) -> ToolResult:
    """A call that repeats what exists is told how that stands."""
    known = [asked.older[one] for n in numbers for one in asked.already[n] if one in asked.older]
    if not known:
        return ToolResult(
            *(False, Status.FAILED_WITHOUT_EFFECT, str(asked.first.id), None),
            "it repeats an operation that exists; ask for it by itself if it is meant",
            None,
            instruction(Status.FAILED_WITHOUT_EFFECT, language),
        )
    proposal = known[0][0]
    result = tool_result(proposal, [operation for _, operation in known], language=language)
    return replace(result, reason="it was asked for before; this is what became of it")


def _left_out(asked: Asked, language: str) -> ToolResult:
    if asked.newest.asked_again and asked.newest.supersedes == asked.first.id:
        return ToolResult(
            *(False, Status.FAILED_WITHOUT_EFFECT, str(asked.newest.id), None, OVERTAKEN, None),
            instruction(Status.FAILED_WITHOUT_EFFECT, language),
        )
    return ToolResult(
        ok=False,
        status=Status.REJECTED,
        proposal_id=str(asked.newest.id),
        executed_input=None,
        reason=asked.first.reason or LEFT_OUT,
        decided_by=asked.first.decided_by,
        instruction=instruction(Status.REJECTED, language),
    )


def _repeated(number: int, asked: Asked) -> Mapping[str, Json]:
    return {"repeats": [str(one) for one in asked.already[number]], "state": "not_asked_for"}

"""A request as it came through a door, and where it stands. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from ledger.canonical import digest
from ledger.model import Json, Operation
from ledger.proposals import Proposal, ProposalState


@dataclass(frozen=True, slots=True)
class Wanted:
    """A request as it came through a door."""

    type: str
    items: Sequence[Mapping[str, Json]]
    agent: str
    request_key: str
    words: str | None = None
    """The agent's own rationale; shown as its words, never believed."""
    run_id: UUID | None = None
    tool_call_id: str | None = None
    trace_context: str | None = None

    @property
    def digest(self) -> str:
        """What a repeated request must equal."""
        return digest({"type": self.type, "items": [dict(item) for item in self.items]})


@dataclass(frozen=True, slots=True)
class Proposed:
    """Where a request stands."""

    proposal_id: UUID
    operation_ids: tuple[UUID, ...]
    authorized: bool
    """The policy approved it; its operations exist."""
    repeated: bool
    rule: str
    operations: tuple[Operation, ...] = ()
    """As they were recorded, for the process that holds them and sends at once; else none."""


def proposed(proposal: Proposal, *, repeated: bool) -> Proposed:
    """Where a proposal that exists stands."""
    return Proposed(
        proposal.id,
        proposal.operation_ids,
        authorized=proposal.state is ProposalState.APPROVED,
        repeated=repeated,
        rule=proposal.rule,
    )

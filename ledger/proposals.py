"""What an agent wants to do, waiting for a decision: values. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from ledger.canonical import digest
from ledger.commands import NewOperation
from ledger.errors import InvalidInput, OutliveError
from ledger.model import Json

OVERTAKEN: Final = "overtaken"
"""The rule of a proposal that we made: the world changed before an approved one was sent."""


class ProposalState(StrEnum):
    """Where a proposal stands. Only `awaiting` moves, and only once."""

    AWAITING = "awaiting"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class NewProposal:
    """A batch for a person: complete, so that an approval only has to write it down."""

    id: UUID
    type: str
    type_version: int
    requested_by: str
    request_key: str
    input_digest: str
    input: Sequence[Mapping[str, Json]]
    agent_words: str | None
    risk: str
    policy_version: int
    rule: str
    approvals: int
    preview: Mapping[str, Json]
    expires_in_s: float
    authorized_for_s: float
    resend_for_s: float
    operations: Sequence[NewOperation]
    version: int = 1
    supersedes: UUID | None = None
    run_id: UUID | None = None
    tool_call_id: str | None = None
    trace_context: str | None = None

    @property
    def digest(self) -> str:
        """What a decision names: covers every request, in order."""
        return requests_digest([new.request_digest for new in self.operations])


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a proposal."""

    item: int
    operation_id: UUID
    target: str
    request_digest: str
    prepared: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal as it stands."""

    id: UUID
    type: str
    type_version: int
    version: int
    state: ProposalState
    mode: str
    requested_by: str
    request_key: str
    agent_words: str | None
    input: Sequence[Mapping[str, Json]]
    final_input: Sequence[Mapping[str, Json]] | None
    digest: str
    risk: str
    policy_version: int
    rule: str
    approvals: int
    preview: Mapping[str, Json]
    created_at: datetime
    expires_at: datetime | None
    decided_by: str | None
    decided_at: datetime | None
    reason: str | None
    supersedes: UUID | None
    superseded_by: UUID | None
    run_id: UUID | None
    tool_call_id: str | None
    voters: tuple[str, ...]
    operation_ids: tuple[UUID, ...]
    """Allotted with the items; rows exist only once the proposal is approved."""

    @property
    def asked_again(self) -> bool:
        """Whether we put it before a person anew; nobody changed what was asked."""
        return self.rule == OVERTAKEN

    @property
    def changed(self) -> bool:
        """Whether a person put it in the place of what the agent asked for."""
        return self.supersedes is not None and not self.asked_again


@dataclass(frozen=True, slots=True)
class Approval:
    """A person's yes, to exactly what they read."""

    proposal_id: UUID
    version: int
    digest: str
    by: str
    separate: Sequence[int] = ()
    """Items that are meant although something resembles them."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Seat:
    """One of the people that a decision takes, and when they said yes."""

    voter: str
    at: datetime


class Taken(StrEnum):
    """How an approval was taken."""

    APPROVED = "approved"
    ONE_OF_TWO = "one_of_two"
    """Counted; a second person must approve too."""
    REPEATED = "repeated"
    """The same decision again: the same answer."""


class DecisionRefused(OutliveError):
    """A decision that does not count. Nothing was decided."""

    code = "decision_refused"


class DecisionStale(DecisionRefused):
    """It names another version or content than the one that waits."""

    code = "decision_stale"


class DecisionTooLate(DecisionRefused):
    """Somebody decided, or it lapsed."""

    code = "decision_too_late"


class OwnProposal(DecisionRefused):
    """Nobody approves what they asked for."""

    code = "own_proposal"


class NotApproved(DecisionRefused):
    """There is no yes of this person to take back."""

    code = "not_approved"


class RepeatsUnanswered(DecisionRefused):
    """Items resemble older effects and were not declared separate."""

    code = "repeats_unanswered"

    def __init__(self, older: Mapping[int, Sequence[UUID]]) -> None:
        items = ", ".join(str(item) for item in sorted(older))
        super().__init__(
            f"items {items} resemble effects that exist already; leave them out, or declare them "
            "separate, and decide again. Nothing was decided."
        )
        self.older = {item: tuple(ids) for item, ids in older.items()}


class UnknownProposal(OutliveError):
    """No such proposal in this ledger."""

    code = "unknown_proposal"

    def __init__(self, proposal_id: object) -> None:
        super().__init__(f"no proposal {proposal_id} in this ledger; it may be in another one")


def left_out(proposal: Proposal, items: Sequence[int]) -> list[Mapping[str, Json]]:
    """What is still asked for when some items are left out: for a change, with a new preview.

    Raises:
        InvalidInput: There is no such item, or nothing would be left: reject it instead.
    """
    count = len(proposal.input)
    odd = sorted(set(items) - set(range(1, count + 1)))
    if odd or not items:
        raise InvalidInput(f"this proposal has items 1 to {count}; name some of them")
    if len(set(items)) == count:
        raise InvalidInput("leaving out every item leaves nothing: reject the proposal instead")
    return [item for number, item in enumerate(proposal.input, 1) if number not in set(items)]


def requests_digest(digests: Sequence[str]) -> str:
    """One digest over the requests of a batch, in their order."""
    return digest(list(digests))

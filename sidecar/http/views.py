"""Proposals and their results as they leave. Pure."""

from typing import Any, Self
from uuid import UUID

from ledger.proposals import Item, Proposal
from sidecar.access.seats import Seats
from sidecar.http.models import JsonObject, MoneyView, Utc, View
from sidecar.http.operation_views import OperationView
from sidecar.proposals.standing import Standing
from sidecar.results.told import ToolResult


class ResultView(View):
    """What a model is told: how it stands and what to do."""

    ok: bool
    status: str
    proposal_id: UUID | None
    executed_input: Any
    reason: str | None
    decided_by: str | None
    instruction: str
    items: list[JsonObject]

    @classmethod
    def of(cls, result: ToolResult) -> Self:
        """A tool result."""
        return cls.model_validate(result.as_json())


class ProposalLineView(View):
    """A proposal in a list."""

    id: UUID
    type: str
    version: int
    state: str
    mode: str
    requested_by: str
    items: int
    rule: str
    approvals: int
    voters: list[str]
    created_at: Utc
    expires_at: Utc | None
    decided_by: str | None
    decided_at: Utc | None
    superseded_by: UUID | None

    @classmethod
    def of(cls, proposal: Proposal) -> Self:
        """A proposal."""
        return cls.model_validate(line_of(proposal))


def line_of(proposal: Proposal) -> JsonObject:
    """What every view of a proposal tells."""
    return {
        "id": proposal.id,
        "type": proposal.type,
        "version": proposal.version,
        "state": proposal.state.value,
        "mode": proposal.mode,
        "requested_by": proposal.requested_by,
        "items": len(proposal.operation_ids),
        "rule": proposal.rule,
        "approvals": proposal.approvals,
        "voters": list(proposal.voters),
        "created_at": proposal.created_at,
        "expires_at": proposal.expires_at,
        "decided_by": proposal.decided_by,
        "decided_at": proposal.decided_at,
        "superseded_by": proposal.superseded_by,
    }


class SeatView(View):
    """Somebody who has said yes, and when."""

    by: str
    at: Utc


class SeatsView(View):
    """Who has said yes so far, and who still can."""

    needed: int
    taken: list[SeatView]
    can: list[str]

    @classmethod
    def of(cls, seats: Seats) -> Self:
        """Seats."""
        return cls(
            needed=seats.needed,
            taken=[SeatView(by=seat.voter, at=seat.at) for seat in seats.taken],
            can=list(seats.can),
        )


class ItemView(View):
    """One item, with the exact request that would leave."""

    item: int
    operation_id: UUID
    target: str
    money: MoneyView | None
    parameters: JsonObject
    request: str
    request_digest: str

    @classmethod
    def of(cls, item: Item) -> Self:
        """An item as it was prepared."""
        prepared = item.prepared
        amount = prepared["amount_minor"]
        return cls(
            item=item.item,
            operation_id=item.operation_id,
            target=item.target,
            money=None
            if amount is None
            else MoneyView(amount_minor=amount, currency=prepared["currency"]),
            parameters=dict(prepared["parameters"]),
            request=prepared["request"],
            request_digest=item.request_digest,
        )


class StandingView(View):
    """How a request stands: what a model is told, and the operations that exist."""

    proposal: ProposalLineView
    result: ResultView
    operation_ids: list[UUID]
    """Allotted with the proposal; ask for them at `/v1/operations/{id}?wait=30`."""
    operations: list[OperationView]
    repeated: bool

    @classmethod
    def of(cls, standing: Standing) -> Self:
        """A standing."""
        return cls(
            proposal=ProposalLineView.of(standing.proposal),
            result=ResultView.of(standing.result),
            operation_ids=list(standing.proposal.operation_ids),
            operations=[OperationView.of(operation) for operation in standing.operations],
            repeated=standing.repeated,
        )


class ProposalView(ProposalLineView):
    """A proposal with everything a decision rests on: decide naming `version` and `digest`."""

    digest: str
    risk: str
    policy_version: int
    agent_words: str | None
    """The agent's own words, unchecked."""
    input: list[JsonObject]
    final_input: list[JsonObject] | None
    preview: JsonObject
    reason: str | None
    supersedes: UUID | None
    run_id: UUID | None
    tool_call_id: str | None
    item_list: list[ItemView]
    result: ResultView
    operations: list[OperationView]
    seats: SeatsView | None
    """Who approved it, and who may be the next; agents are not told."""

    @classmethod
    def whole(cls, standing: Standing, items: list[Item], seats: Seats | None = None) -> Self:
        """A proposal with its items and what came of them."""
        proposal = standing.proposal
        return cls.model_validate(
            {
                **line_of(proposal),
                "digest": proposal.digest,
                "risk": proposal.risk,
                "policy_version": proposal.policy_version,
                "agent_words": proposal.agent_words,
                "input": [dict(item) for item in proposal.input],
                "final_input": None
                if proposal.final_input is None
                else [dict(item) for item in proposal.final_input],
                "preview": dict(proposal.preview),
                "reason": proposal.reason,
                "supersedes": proposal.supersedes,
                "run_id": proposal.run_id,
                "tool_call_id": proposal.tool_call_id,
                "item_list": [ItemView.of(item) for item in items],
                "result": ResultView.of(standing.result),
                "operations": [OperationView.of(one) for one in standing.operations],
                "seats": None if seats is None else SeatsView.of(seats),
            }
        )

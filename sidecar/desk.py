"""Where every door brings what an agent wants, and asks how it stands: HTTP, and MCP alike."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from ledger.commands import Worker
from ledger.errors import UnknownOperation
from ledger.model import Operation
from ledger.postgres.ledger import Ledger
from ledger.proposals import Proposal, ProposalState, UnknownProposal
from sidecar.proposing import Proposer, Wanted
from sidecar.results import ENDED, ToolResult, tool_result
from sidecar.sending import Sender
from sidecar.waiting import Of, Waits

PATIENCE_S: Final = 30.0
"""How long an answer is waited for, unless the caller says otherwise."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a proposal, or one operation of it, stands."""

    proposal: Proposal
    operations: tuple[Operation, ...]
    """Those that exist: none before the decision."""
    result: ToolResult
    repeated: bool = False

    @property
    def ended(self) -> bool:
        """Whether there is nothing more to wait for."""
        return self.result.status in ENDED


class Desk:
    """Takes requests in, has them sent, and says how they stand."""

    def __init__(
        self, ledger: Ledger, proposer: Proposer, sender: Sender, waits: Waits, worker: Worker
    ) -> None:
        self._ledger = ledger
        self._proposer = proposer
        self._sender = sender
        self._waits = waits
        self._worker = worker

    @property
    def waiting(self) -> int:
        """How many callers wait now."""
        return self._waits.count

    async def propose(self, wanted: Wanted, *, wait_s: float | None = None) -> Standing:
        """Take a request in; what the policy approves is sent at once.

        Args:
            wanted: The request.
            wait_s: How long to wait for its end. By default 30 s, but not for a person.

        Raises:
            UnknownType, InvalidParameters, InvalidInput, RepeatedTarget, ProviderError, KeyReused:
                Nothing was stored.
        """
        made = await self._proposer.propose(wanted, sender=self._worker)
        if made.authorized and not made.repeated:
            self._sender.start(made.operation_ids)
        if wait_s is None:
            wait_s = PATIENCE_S if made.authorized else 0.0
        await self._waits.until_ended(Of.PROPOSAL, made.proposal_id, most_s=wait_s)
        return replace(await self._standing(made.proposal_id), repeated=made.repeated)

    async def proposal(
        self, proposal_id: UUID, *, sees_only: str | None, wait_s: float = 0.0
    ) -> Standing:
        """How a proposal stands, waited for.

        Raises:
            UnknownProposal: There is none, or none that the caller may see.
        """
        proposal = await self._ledger.proposals.get(proposal_id)
        if sees_only not in {None, proposal.requested_by}:
            raise UnknownProposal(proposal_id)
        await self._waits.until_ended(Of.PROPOSAL, proposal_id, most_s=wait_s)
        return await self._standing(proposal_id)

    async def operation(
        self, operation_id: UUID, *, sees_only: str | None, wait_s: float = 0.0
    ) -> Standing:
        """How one operation stands, waited for; known from the moment it is proposed.

        Where a person changed the request, it is the newer version that is told of.

        Raises:
            UnknownOperation: There is none, or none that the caller may see.
        """
        place = await self._ledger.pool.row("place_of_operation", id=operation_id)
        if place is None or sees_only not in {None, place["requested_by"]}:
            raise UnknownOperation(operation_id)
        first: UUID = place["proposal_id"]
        clock = asyncio.get_running_loop().time
        until_s = clock() + wait_s
        newest = await self._newest(first)
        while True:
            waited_for = newest
            of, id_ = (
                (Of.OPERATION, operation_id)
                if waited_for.id == first
                else (Of.PROPOSAL, waited_for.id)
            )
            await self._waits.until_ended(of, id_, most_s=until_s - clock())
            newest = await self._newest(waited_for.id)
            if newest.id == waited_for.id or clock() >= until_s:
                return await self._standing(
                    newest.id, only=[operation_id] if newest.id == first else None
                )

    async def _newest(self, proposal_id: UUID) -> Proposal:
        """The version that took its place last."""
        proposal = await self._ledger.proposals.get(proposal_id)
        while proposal.superseded_by is not None:
            try:
                proposal = await self._ledger.proposals.get(proposal.superseded_by)
            except UnknownProposal:  # the newer one is being written this moment
                break
        return proposal

    async def _standing(self, proposal_id: UUID, *, only: Sequence[UUID] | None = None) -> Standing:
        proposal = await self._as_of_now(await self._ledger.proposals.get(proposal_id))
        operations: list[Operation] = []
        if proposal.state is ProposalState.APPROVED:
            operations = await self._ledger.operations(only or proposal.operation_ids)
            operations.sort(key=lambda operation: operation.item)
        return Standing(proposal, tuple(operations), tool_result(proposal, operations))

    async def _as_of_now(self, proposal: Proposal) -> Proposal:
        """A proposal whose time is up has lapsed, whether or not a worker has written it yet."""
        if proposal.state is not ProposalState.AWAITING or proposal.expires_at is None:
            return proposal
        if proposal.expires_at > await self._ledger.now():
            return proposal
        return replace(
            proposal,
            state=ProposalState.EXPIRED,
            decided_by="ledger",
            decided_at=proposal.expires_at,
            reason="nobody decided in time",
        )

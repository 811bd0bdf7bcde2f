"""How proposals and operations stand, read for many callers together."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from ledger.errors import UnknownOperation
from ledger.model import Operation
from ledger.postgres.ledger import Ledger
from ledger.proposals import Proposal, ProposalState, UnknownProposal
from sidecar.proposals.together import Together
from sidecar.results.told import ENDED, ToolResult, tool_result

_NOW: Final = "now"


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


@dataclass(frozen=True, slots=True)
class Place:
    """Which proposal an operation is, or will be, an item of."""

    proposal_id: UUID
    requested_by: str


class Standings:
    """Reads proposals and operations, a query for all who ask at once."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._proposals = Together(self._read_proposals)
        self._operations = Together(self._read_operations)
        self._places = Together(self._read_places)
        self._clock = Together(self._read_clock)

    async def proposal(self, proposal_id: UUID) -> Proposal:
        """Read one.

        Raises:
            UnknownProposal: There is none with this id.
        """
        found = await self._proposals.get(proposal_id)
        if found is None:
            raise UnknownProposal(proposal_id)
        return found

    async def newest(self, proposal_id: UUID) -> Proposal:
        """The version that took its place last.

        Raises:
            UnknownProposal: There is none with this id.
        """
        proposal = await self.proposal(proposal_id)
        while proposal.superseded_by is not None:
            proposal = await self.proposal(proposal.superseded_by)
        return proposal

    async def place(self, operation_id: UUID) -> Place:
        """Where an operation belongs, also one that waits for a decision.

        Raises:
            UnknownOperation: There is none with this id.
        """
        found = await self._places.get(operation_id)
        if found is None:
            raise UnknownOperation(operation_id)
        return found

    async def of(self, read: Proposal, *, only: Sequence[UUID] | None = None) -> Standing:
        """How a proposal that was read just now stands, or some of its operations."""
        proposal = await self._as_of_now(read)
        operations: list[Operation] = []
        if proposal.state is ProposalState.APPROVED:
            ids = only or proposal.operation_ids
            found = await asyncio.gather(*(self._operations.get(one) for one in ids))
            operations = [operation for operation in found if operation is not None]
            operations.sort(key=lambda operation: operation.item)
        return Standing(proposal, tuple(operations), tool_result(proposal, operations))

    async def _as_of_now(self, proposal: Proposal) -> Proposal:
        """A proposal whose time is up has lapsed, whether or not a worker has written it yet."""
        if proposal.state is not ProposalState.AWAITING or proposal.expires_at is None:
            return proposal
        now = await self._clock.get(_NOW)
        if now is None or proposal.expires_at > now:
            return proposal
        return replace(
            proposal,
            state=ProposalState.EXPIRED,
            decided_by="ledger",
            decided_at=proposal.expires_at,
            reason="nobody decided in time",
        )

    async def _read_proposals(self, ids: Sequence[UUID]) -> Mapping[UUID, Proposal]:
        return {found.id: found for found in await self._ledger.proposals.several(ids)}

    async def _read_operations(self, ids: Sequence[UUID]) -> Mapping[UUID, Operation]:
        return {found.id: found for found in await self._ledger.operations(ids)}

    async def _read_places(self, ids: Sequence[UUID]) -> Mapping[UUID, Place]:
        rows = await self._ledger.pool.rows("place_of_operations", ids=list(ids))
        return {row["id"]: Place(row["proposal_id"], row["requested_by"]) for row in rows}

    async def _read_clock(self, keys: Sequence[str]) -> Mapping[str, datetime]:
        now = await self._ledger.now()
        return dict.fromkeys(keys, now)

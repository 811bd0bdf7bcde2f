"""Read what the calls of a run have become, and say it as their results."""

from collections.abc import Sequence
from uuid import UUID

from ledger.model import Operation
from ledger.postgres.ledger import Ledger
from ledger.proposals import Proposal, ProposalState
from ledger.runs import Call, CallStatus, Move, Run
from sidecar.proposals.overlap import from_names
from sidecar.results.of_calls import Asked, end_of, result_of
from sidecar.results.told import ToolResult


class RunResults:
    """Reads results; writes nothing."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def of(self, call: Call, *, language: str = "en") -> ToolResult:
        """How one proposed call stands now."""
        assert call.proposal_id is not None  # noqa: S101  callers ask for proposed calls only
        return result_of(call, await self._asked(call.proposal_id), language)

    async def ends(self, run: Run, *, language: str = "en") -> list[Move] | None:
        """The end of each call that waits; `None` if one has none yet."""
        moves: list[Move] = []
        read: dict[UUID, Asked] = {}
        for call in run.calls:
            if call.status is not CallStatus.WAITING or call.proposal_id is None:
                continue
            if call.proposal_id not in read:
                read[call.proposal_id] = await self._asked(call.proposal_id)
            move = end_of(call, result_of(call, read[call.proposal_id], language))
            if move is None:
                return None
            moves.append(move)
        return moves

    async def _asked(self, proposal_id: UUID) -> Asked:
        first = newest = await self._ledger.proposals.get(proposal_id)
        while newest.superseded_by is not None:
            newest = await self._ledger.proposals.get(newest.superseded_by)
        already = from_names(first.preview.get("already", {}))
        return Asked(
            first=first,
            newest=newest,
            operations=await self._operations(newest),
            targets={i.item: i.target for i in await self._ledger.proposals.items(first.id)},
            already=already,
            older=await self._older([one for ids in already.values() for one in ids]),
        )

    async def _operations(self, proposal: Proposal) -> list[Operation]:
        if proposal.state is not ProposalState.APPROVED:
            return []
        operations = await self._ledger.operations(proposal.operation_ids)
        return sorted(operations, key=lambda operation: operation.item)

    async def _older(self, operation_ids: Sequence[UUID]) -> dict[UUID, tuple[Proposal, Operation]]:
        operations = await self._ledger.operations(operation_ids)
        proposals = {
            proposal.id: proposal
            for proposal in await self._ledger.proposals.several(
                list({operation.proposal_id for operation in operations})
            )
        }
        return {o.id: (proposals[o.proposal_id], o) for o in operations}

"""Reading proposals and their items, as they stand."""

from collections.abc import Sequence
from uuid import UUID

from ledger.postgres.connect import Pool
from ledger.postgres.proposal_rows import proposal_of
from ledger.proposals import Item, Proposal, Seat, UnknownProposal


class ProposalReading:
    """What submitting and deciding build on: the pool, and reading."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def get(self, proposal_id: UUID) -> Proposal:
        """Read one.

        Raises:
            UnknownProposal: There is none with this id.
        """
        rows = await self._pool.rows("read_proposals", ids=[proposal_id])
        if not rows:
            raise UnknownProposal(proposal_id)
        return proposal_of(rows[0])

    async def several(self, proposal_ids: Sequence[UUID]) -> list[Proposal]:
        """Read several, the oldest first; unknown ids are left out."""
        rows = await self._pool.rows("read_proposals", ids=list(proposal_ids))
        return [proposal_of(row) for row in rows]

    async def items(self, proposal_id: UUID) -> list[Item]:
        """Its items, in order; none for what the policy approved at once."""
        rows = await self._pool.rows("read_items", id=proposal_id)
        return [
            Item(
                row["item"],
                row["operation_id"],
                row["target"],
                row["request_digest"],
                row["prepared"],
            )
            for row in rows
        ]

    async def seats(self, proposal_id: UUID) -> list[Seat]:
        """Who has approved it so far, and when."""
        rows = await self._pool.rows("seats", id=proposal_id)
        return [Seat(row["voter"], row["voted_at"]) for row in rows]

"""Where every door brings what an agent wants, and asks how it stands: HTTP, and MCP alike."""

import asyncio
from dataclasses import replace
from typing import Final
from uuid import UUID

from ledger.commands import Worker
from ledger.errors import UnknownOperation
from ledger.postgres.ledger import Ledger
from ledger.proposals import UnknownProposal
from sidecar.proposals.proposing import Proposer, Wanted
from sidecar.proposals.sending import Sender
from sidecar.proposals.standing import Standing, Standings
from sidecar.proposals.waiting import Of, Waits

PATIENCE_S: Final = 30.0
"""How long an answer is waited for, unless the caller says otherwise."""


class Desk:
    """Takes requests in, has them sent, and says how they stand."""

    def __init__(
        self, ledger: Ledger, proposer: Proposer, sender: Sender, waits: Waits, worker: Worker
    ) -> None:
        self._standings = Standings(ledger)
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
            self._sender.start(made.operations)
        if wait_s is None:
            wait_s = PATIENCE_S if made.authorized else 0.0
        await self._waits.until_ended(Of.PROPOSAL, made.proposal_id, most_s=wait_s)
        read = await self._standings.proposal(made.proposal_id)
        return replace(await self._standings.of(read), repeated=made.repeated)

    async def proposal(
        self, proposal_id: UUID, *, sees_only: str | None, wait_s: float = 0.0
    ) -> Standing:
        """How a proposal stands, waited for.

        Raises:
            UnknownProposal: There is none, or none that the caller may see.
        """
        proposal = await self._standings.proposal(proposal_id)
        if sees_only not in {None, proposal.requested_by}:
            raise UnknownProposal(proposal_id)
        if wait_s > 0:
            await self._waits.until_ended(Of.PROPOSAL, proposal_id, most_s=wait_s)
            proposal = await self._standings.proposal(proposal_id)
        return await self._standings.of(proposal)

    async def operation(
        self, operation_id: UUID, *, sees_only: str | None, wait_s: float = 0.0
    ) -> Standing:
        """How one operation stands, waited for; known from the moment it is proposed.

        Where a person changed the request, it is the newer version that is told of.

        Raises:
            UnknownOperation: There is none, or none that the caller may see.
        """
        place = await self._standings.place(operation_id)
        if sees_only not in {None, place.requested_by}:
            raise UnknownOperation(operation_id)
        clock = asyncio.get_running_loop().time
        until_s = clock() + wait_s
        newest = await self._standings.newest(place.proposal_id)
        while (left_s := until_s - clock()) > 0:
            followed = newest
            first = followed.id == place.proposal_id
            of, waited_for = (Of.OPERATION, operation_id) if first else (Of.PROPOSAL, followed.id)
            await self._waits.until_ended(of, waited_for, most_s=left_s)
            newest = await self._standings.newest(followed.id)
            if newest.id == followed.id:
                break
        only = [operation_id] if newest.id == place.proposal_id else None
        return await self._standings.of(newest, only=only)


__all__ = ["PATIENCE_S", "Desk", "Standing"]

"""Proposals in PostgreSQL: submitted once, decided once."""

import json
from collections.abc import Sequence
from uuid import UUID

from ledger.commands import NewOperation
from ledger.errors import KeyReused
from ledger.postgres.authorization_writes import LOOK_ALIKE_S
from ledger.postgres.deciding import Deciding
from ledger.postgres.proposal_rows import as_json
from ledger.proposals import NewProposal


class Proposals(Deciding):
    """Submits, reads and decides."""

    async def submit(self, new: NewProposal) -> tuple[UUID, bool]:
        """Put a batch before a person; its id, and whether the request came before.

        Raises:
            KeyReused: The key came before with another body.
        """
        known = await self.known(new.requested_by, new.request_key, new.input_digest)
        if known is not None:
            return known, True
        row = await self._pool.row("propose", **as_json(new))
        if row is not None:
            return new.id, False
        known = await self.known(new.requested_by, new.request_key, new.input_digest)
        assert known is not None  # noqa: S101  it was in the way a moment ago
        return known, True

    async def known(self, requested_by: str, request_key: str, input_digest: str) -> UUID | None:
        """What a request made before: the newest version of it.

        Raises:
            KeyReused: The key came before with another body.
        """
        row = await self._pool.row(
            "known_proposal", requested_by=requested_by, request_key=request_key
        )
        if row is None:
            return None
        if row["input_digest"] != input_digest:
            raise KeyReused(request_key)
        proposal = await self.get(row["id"])
        while proposal.superseded_by is not None:
            proposal = await self.get(proposal.superseded_by)
        return proposal.id

    async def repeats(
        self, operations: Sequence[NewOperation]
    ) -> tuple[dict[int, tuple[UUID, ...]], bool]:
        """Older effects that the items resemble, and whether a target is in doubt."""
        found = await self.repeats_on([(new.subject.target, new.family) for new in operations])
        older = {number: ids for number, (ids, _) in enumerate(found, 1) if ids}
        return older, any(busy for _, busy in found)

    async def repeats_on(
        self, places: Sequence[tuple[str, str]]
    ) -> list[tuple[tuple[UUID, ...], bool]]:
        """For each target and family: older effects on it, and whether it is in doubt."""
        wanted = [
            {"item": number, "target": target, "family": family}
            for number, (target, family) in enumerate(places)
        ]
        rows = await self._pool.rows("repeats", items=json.dumps(wanted), look_alike_s=LOOK_ALIKE_S)
        return [(tuple(row["older"] or ()), row["busy"]) for row in rows]

    async def taken(self, keys: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        """Which of these (who asked, under which key) came before."""
        rows = await self._pool.rows(
            "known_proposals", agents=[who for who, _ in keys], keys=[key for _, key in keys]
        )
        return {(row["requested_by"], row["request_key"]) for row in rows}

    async def expire(self, *, limit: int = 100) -> list[UUID]:
        """End what nobody decided in time."""
        rows = await self._pool.rows("expire_proposals", limit=limit)
        return [row["id"] for row in rows]

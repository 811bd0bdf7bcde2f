"""Approved items that failed before their first send, since the world had changed under them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from ledger.postgres.connect import Pool

BY: Final = "ledger:overtaken"
"""Who revokes an authorization in order to ask again; the database's trigger knows the name."""


@dataclass(frozen=True, slots=True)
class Overtaken:
    """A proposal with such items, and what became of the others."""

    proposal_id: UUID
    operation_ids: tuple[UUID, ...]
    """Those that nobody has asked for again."""
    authorization_id: UUID
    revoked: bool
    """It was revoked in order to ask again."""
    some_left: bool
    some_may_leave: bool


class OvertakenItems:
    """Finds them, and remembers what was done about them."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def due(self, *, limit: int) -> list[Overtaken]:
        """Proposals with items that nobody has asked for again."""
        rows = await self._pool.rows("overtaken_due", limit=limit)
        return [
            Overtaken(
                proposal_id=row["id"],
                operation_ids=tuple(row["operation_ids"] or ()),
                authorization_id=row["authorization_id"],
                revoked=row["revoked"],
                some_left=row["some_left"],
                some_may_leave=row["some_may_leave"],
            )
            for row in rows
        ]

    async def done(
        self,
        operation_ids: Sequence[UUID],
        *,
        asked_in: UUID | None,
        why: str | None = None,
        whole: UUID | None = None,
    ) -> None:
        """Remember that they are asked for in a new proposal, or why they can't be.

        Args:
            operation_ids: The items.
            asked_in: The new proposal.
            why: Why there is none.
            whole: The old proposal, if the new one takes its place.
        """
        await self._pool.rows(
            "overtaken_done",
            operation_ids=list(operation_ids),
            asked_in=asked_in,
            why=why,
            whole=whole,
        )

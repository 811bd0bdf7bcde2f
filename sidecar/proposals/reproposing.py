"""What a person approved, and the world overtook before it left, is put before a person again.

Every item's preconditions are read once more before its first send. Where they are gone the item
fails, without effect, and the database notes it in the same commit. This pass then asks again:

- While nothing of a batch has left, the person's picture as a whole is out of date. The
  authorization is revoked first, so that no sibling leaves meanwhile; when none can leave any more,
  one new proposal with the new numbers takes the place of the old one.
- Once something left, each item stands alone: the others go on, and a new proposal holds only those
  that were overtaken.

Each item is asked for again once: the new proposal's request key is derived from the old one, and
what was done is remembered per item. A process may die between any two steps; the next one goes on.

Limits. The revocation can lose a race against a sender that had passed the gate: then something
has left, and what the revocation stopped is asked for again as if it had been overtaken. An item
that the provider refuses outright now (disputed, too little left) can't be asked for again; the
reason is kept with it and shown in the proposal of its siblings. Amounts are never adjusted by us.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from dispatcher.prepare import prepare
from dispatcher.provider import OperationType, Registry
from ledger.commands import NewOperation
from ledger.errors import OutliveError
from ledger.model import Json, Operation
from ledger.postgres.ledger import Ledger
from ledger.postgres.overtaken import BY, Overtaken, OvertakenItems
from ledger.proposals import Proposal
from sidecar.proposals.proposing import Proposer

AT_ONCE: Final = 50
_READS_AT_ONCE: Final = 8
_TRANSIENT: Final = frozenset({"provider_unreachable", "provider_auth", "provider_inconsistent"})
"""Refusals to look that say nothing about the item: it is tried again at the next pass."""

_log = logging.getLogger(__name__)


class Reproposing:
    """Asks again for what the world overtook."""

    def __init__(self, ledger: Ledger, types: Registry, proposer: Proposer) -> None:
        self._ledger = ledger
        self._types = types
        self._proposer = proposer
        self._items = OvertakenItems(ledger.pool)

    async def run(self) -> int:
        """One pass; how many proposals it looked at."""
        due = await self._items.due(limit=AT_ONCE)
        for one in due:
            try:
                await self.handle(one)
            except OutliveError as error:
                _log.warning("%s is asked for again later: %s", one.proposal_id, error)
        return len(due)

    async def handle(self, one: Overtaken) -> None:
        """Bring one proposal a step on; whatever was done before is not done again."""
        if not one.some_left and one.some_may_leave:
            if not one.revoked:
                await self._ledger.revoke(
                    one.authorization_id,
                    by=BY,
                    reason="the world changed before anything left; it is asked for again",
                )
            return  # what was stopped must fail first: none may leave beside the new ones
        if one.revoked and one.some_may_leave:
            return
        old = await self._ledger.proposals.get(one.proposal_id)
        operations = await self._ledger.operations(one.operation_ids)
        operations.sort(key=lambda operation: operation.item)
        await self._ask(old, operations, whole=not one.some_left)

    async def _ask(self, old: Proposal, operations: Sequence[Operation], *, whole: bool) -> None:
        kind = self._types.get(old.type)
        possible, refused = await self._prepared(kind, operations)
        if possible:
            first = operations[0].item
            key = f"{old.request_key}#again" + ("" if whole else f":{first}")
            new = await self._proposer.ask_again(
                old, possible, request_key=key, overtaken=_told(operations, refused)
            )
            targets = {item.target for item in await self._ledger.proposals.items(new.id)}
            await self._items.done(
                [o.id for o in operations if whole or o.target in targets],
                asked_in=new.id,
                whole=old.id if whole else None,
            )
            _log.warning("%s is asked for again as %s: the world changed", old.id, new.id)
        for operation in operations:
            if operation.item in refused:
                await self._items.done(
                    [operation.id], asked_in=None, why=str(refused[operation.item])
                )

    async def _prepared(
        self, kind: OperationType, operations: Sequence[Operation]
    ) -> tuple[list[NewOperation], dict[int, OutliveError]]:
        """Prepare each by itself: one that can't be asked for any more stops no other."""
        slots = asyncio.Semaphore(_READS_AT_ONCE)

        async def one(operation: Operation) -> NewOperation | OutliveError:
            async with slots:
                try:
                    [new] = await prepare(kind, self._ledger.identity, [operation.parameters])
                except OutliveError as error:
                    if error.code in _TRANSIENT:
                        raise
                    return error
                return new

        results = await asyncio.gather(*(one(operation) for operation in operations))
        possible = [new for new in results if isinstance(new, NewOperation)]
        refused = {
            operation.item: result
            for operation, result in zip(operations, results, strict=True)
            if isinstance(result, OutliveError)
        }
        return possible, refused


def _told(operations: Sequence[Operation], refused: dict[int, OutliveError]) -> dict[str, Json]:
    """What the person reads: why each item is asked for again, or why it can't be."""
    return {
        str(operation.item): {
            "operation": str(operation.id),
            "code": operation.failure_code,
            "refused": str(refused[operation.item]) if operation.item in refused else None,
        }
        for operation in operations
    }

"""What is looked up before a request is ruled on, by one query for all who ask at once."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from ledger.commands import NewOperation
from ledger.postgres.ledger import Ledger
from sidecar.proposals.together import Together

_NOW: Final = "now"

Key = tuple[str, str]
Alike = tuple[tuple[UUID, ...], bool]


class Beforehand:
    """Reads for the proposer. Nothing rests on them alone: what is written is judged again."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._taken = Together[Key, bool](self._read_taken)
        self._alike = Together[Key, Alike](self._read_alike)
        self._clock = Together[str, datetime](self._read_clock)

    async def known(self, agent: str, request_key: str, input_digest: str) -> UUID | None:
        """What a request made before: the newest version of it.

        Raises:
            KeyReused: The key came before with another body.
        """
        if not await self._taken.get((agent, request_key)):
            return None
        return await self._ledger.proposals.known(agent, request_key, input_digest)

    async def repeats(
        self, operations: Sequence[NewOperation]
    ) -> tuple[dict[int, tuple[UUID, ...]], bool]:
        """Older effects that the items resemble, and whether a target is in doubt."""
        if len(operations) > 1:
            return await self._ledger.proposals.repeats(operations)
        [new] = operations
        found = await self._alike.get((new.subject.target, new.family))
        older, busy = found or ((), True)
        return {1: older} if older else {}, busy

    async def now(self) -> datetime:
        """The ledger's clock."""
        return await self._clock.get(_NOW) or await self._ledger.now()

    async def _read_taken(self, keys: Sequence[Key]) -> Mapping[Key, bool]:
        return dict.fromkeys(await self._ledger.proposals.taken(keys), True)

    async def _read_alike(self, places: Sequence[Key]) -> Mapping[Key, Alike]:
        return dict(zip(places, await self._ledger.proposals.repeats_on(places), strict=True))

    async def _read_clock(self, keys: Sequence[str]) -> Mapping[str, datetime]:
        return dict.fromkeys(keys, await self._ledger.now())

"""The read budget of one credential, leased in chunks from what all replicas share."""

import asyncio
from collections.abc import Awaitable, Callable

from ledger.postgres.switches import Switches
from recovery.limits import Limits


class ReadBudget:
    """Lets a read go when the shared budget allows it."""

    def __init__(
        self,
        switches: Switches,
        provider: str,
        credential: str,
        limits: Limits,
        *,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._switches = switches
        self._provider = provider
        self._credential = credential
        self._limits = limits
        self._pause = pause
        self._left = 0
        self._one_at_a_time = asyncio.Lock()

    async def wait(self) -> None:
        """Return once one more read may go."""
        async with self._one_at_a_time:
            while self._left == 0:
                self._left = await self._switches.take_reads(
                    self._provider,
                    self._credential,
                    wanted=self._limits.reads_chunk,
                    per_s=self._limits.reads_per_s,
                    burst=self._limits.reads_burst,
                )
                if self._left == 0:
                    await self._pause(self._limits.reads_chunk / self._limits.reads_per_s)
            self._left -= 1

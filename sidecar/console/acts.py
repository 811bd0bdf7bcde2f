"""Forms arrive twice: a double click, a reload, a lost answer. The first arrival counts.

Each form holds an id. The second arrival waits for the first one's end and is sent where it led.
What did nothing is forgotten, so that pressing again is a new try.
"""

import asyncio
from typing import Final
from uuid import UUID

from ledger.postgres.connect import Pool

_ABANDONED_S: Final = 60.0
"""Whoever began it and has not ended it by now is gone."""
_WAIT_S: Final = 20.0
_LOOK_S: Final = 0.1


class Acts:
    """Remembers what forms have led to."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def begin(self, session_id: UUID, act: UUID, path: str) -> bool:
        """Whether this is the first arrival."""
        row = await self._pool.row(
            "act_begin", session_id=session_id, id=act, path=path, abandoned_s=_ABANDONED_S
        )
        return row is not None

    async def end(self, session_id: UUID, act: UUID, led_to: str) -> None:
        """Keep where it led."""
        await self._pool.rows("act_end", session_id=session_id, id=act, led_to=led_to)

    async def undo(self, session_id: UUID, act: UUID) -> None:
        """Forget it: it did nothing."""
        await self._pool.rows("act_undo", session_id=session_id, id=act)

    async def outcome(self, session_id: UUID, act: UUID, path: str) -> str | None:
        """Where the first arrival led; waits for its end. `None`: not known (yet)."""
        for _ in range(int(_WAIT_S / _LOOK_S)):
            row = await self._pool.row("act_find", session_id=session_id, id=act, path=path)
            if row is None:
                return None
            if row["led_to"] is not None:
                led_to: str = row["led_to"]
                return led_to
            await asyncio.sleep(_LOOK_S)
        return None

"""The periodic work about runs: make them ready, offer them, and send late truths after them."""

import logging
from typing import Final
from uuid import UUID

from ledger.errors import OutliveError
from ledger.postgres.ledger import Ledger
from sidecar.proposals.suspending import Suspending
from sidecar.results.of_runs import RunResults
from sidecar.results.told import ENDED

DOUBT_S: Final = 15 * 60.0
"""How long a run waits for a call in doubt; then its agent is told so, and the truth follows."""
UNSETTLED_S: Final = 30.0
"""After how long a turn whose calls nobody finished deciding about is taken over."""
OFFERS_MOST: Final = 30
"""How often an agent is called; a run stays ready, and can be claimed, whatever happens."""
AT_ONCE: Final = 100

_log = logging.getLogger(__name__)


class RunsPass:
    """Moves runs on."""

    def __init__(self, ledger: Ledger, suspending: Suspending, *, doubt_s: float = DOUBT_S) -> None:
        self._ledger = ledger
        self._suspending = suspending
        self._results = RunResults(ledger)
        self._doubt_s = doubt_s

    async def run(self) -> int:
        """One pass; how many runs became ready."""
        ready = await self._make_ready()
        await self._ledger.runs.take_back(limit=AT_ONCE)
        await self._ledger.runs.offer(limit=AT_ONCE, most=OFFERS_MOST)
        await self._tell_truths()
        return ready

    async def _make_ready(self) -> int:
        count = 0
        for looked in await self._ledger.runs.due(
            limit=AT_ONCE, doubt_s=self._doubt_s, unsettled_s=UNSETTLED_S
        ):
            try:
                if looked.unsettled:
                    await self._suspending.settle(await self._ledger.runs.get(looked.id))
                elif looked.ended:
                    count += await self._ready(looked.id)
            except OutliveError as error:
                _log.warning("run %s waits: %s", looked.id, error)
        return count

    async def _ready(self, run_id: UUID) -> bool:
        run = await self._ledger.runs.get(run_id)
        moves = await self._results.ends(run)
        return moves is not None and await self._ledger.runs.make_ready(run, moves)

    async def _tell_truths(self) -> None:
        for late in await self._ledger.runs.late_truths(limit=AT_ONCE):
            result = await self._results.of(
                await self._ledger.runs.call(late.run_id, late.position)
            )
            if result.status in ENDED:
                await self._ledger.runs.tell_late(late, result.as_json())

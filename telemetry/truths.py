"""*Time to truth* as a histogram: from the first send to the first proven outcome.

It is read from the ledger, not counted where it happens: a crash loses nothing, and each replica
says the same numbers, so that a reader takes the greatest of them and never their sum. Events are
read once, in the order of their transactions; what is counted begins anew with the ledger's day
(UTC), which Prometheus takes for a restarted counter.
"""

import asyncio
from collections import defaultdict
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Final
from uuid import UUID

from ledger.postgres.ledger import Ledger

BOUNDS_S: Final = (0.5, 1.0, 2.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3_600.0, 14_400.0, 86_400.0)
"""Upper bounds of the buckets: from an answer at once to a day in doubt."""
READ_MOST: Final = 2_000
READS_MOST: Final = 25
"""One look reads 50,000 events at most; the next goes on from there."""
LOOKED_BACK: Final = 200_000
"""Events among which the beginning of the day is looked for when the process starts."""
_BY: Final = MappingProxyType(
    {"answered": "answer", "answered_late": "answer", "decided": "recovery", "verdict": "person"}
)
_FIRST: Final = UUID(int=0)

Labels = tuple[str, str, str]
"""Operation type, final state, and what ended it."""


@dataclass(slots=True)
class Buckets:
    """One histogram: how many up to each bound, all together, and their sum."""

    counts: list[int] = field(default_factory=lambda: [0] * len(BOUNDS_S))
    """Cumulative, as Prometheus wants them."""
    count: int = 0
    sum_s: float = 0.0

    def observe(self, seconds: float) -> None:
        """Count one."""
        self.count += 1
        self.sum_s += seconds
        for index, bound in enumerate(BOUNDS_S):
            self.counts[index] += seconds <= bound


class Truths:
    """Reads on whenever it is asked."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._day: datetime | None = None
        self._place: tuple[str, UUID, int] = ("0", _FIRST, 0)
        self._told: defaultdict[Labels, Buckets] = defaultdict(Buckets)
        self._turn = asyncio.Lock()

    async def read(self) -> dict[Labels, Buckets]:
        """The day's histograms.

        Raises:
            DatabaseUnreachable: PostgreSQL does not answer.
        """
        async with self._turn:
            if self._day is None:
                row = await self._ledger.pool.row("truths_begin", most=LOOKED_BACK)
                assert row is not None  # noqa: S101  the day is always there
                self._day, self._place = row["day"], (row["xid"], _FIRST, 0)
            for _ in range(READS_MOST):
                if await self._read_on() < READ_MOST:
                    break
            return deepcopy(dict(self._told))  # what was read does not change any more

    async def _read_on(self) -> int:
        xid, operation_id, seq = self._place
        rows = await self._ledger.pool.rows(
            "truths", xid=xid, operation_id=operation_id, seq=seq, most=READ_MOST
        )
        first = rows[0]
        if first["day"] != self._day:
            self._day = first["day"]
            self._told.clear()
        for row in rows:
            if row["state"] is not None and row["at"] >= self._day:
                by = _BY.get(row["kind"], row["kind"])
                self._told[row["type"], row["state"], by].observe(row["seconds"])
        if first["read"]:
            self._place = first["xid"], first["operation_id"], first["seq"]
        return int(first["read"])

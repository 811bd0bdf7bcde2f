"""Ledger facts go to ClickHouse: every event, at least once, in order, however long it was away.

The cursor moves after ClickHouse has said that it has them; a crash in between sends them again,
and the table counts an event once. One worker copies at a time.
"""

import asyncio
import contextlib
import logging
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from ledger.errors import DatabaseUnreachable
from ledger.postgres.ledger import Ledger
from telemetry.clickhouse.writer import ClickHouse
from telemetry.errors import ClickHouseUnreachable, UnsupportedSchema
from telemetry.facts import COLUMNS, fact
from telemetry.matters import copy_matters

CONSUMER: Final = "clickhouse"
BATCH: Final = 1_000
HOLD_S: Final = 30.0
"""How long a holder's turn lasts; longer than a batch takes, its time limits included."""
_COUNTED_MOST: Final = 100_000
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Lag:
    """How far the copy is behind."""

    waiting: int
    """Events not copied yet; more than 100,000 are not counted."""
    oldest_s: float


class Outbox:
    """Copies ledger facts, for one holder."""

    def __init__(self, ledger: Ledger, clickhouse: ClickHouse, holder: UUID) -> None:
        self._ledger = ledger
        self._clickhouse = clickhouse
        self._holder = holder

    async def ship(self, *, most: int = BATCH) -> int:
        """Copy the next events; how many. 0: there are none, it is another's turn, or it is away.

        Raises:
            DatabaseUnreachable: PostgreSQL does not answer; nothing is lost.
        """
        taken = await self._ledger.pool.row(
            "take_facts", consumer=CONSUMER, holder=self._holder, hold_s=HOLD_S
        )
        if taken is None:
            return 0
        rows = await self._ledger.pool.rows(
            "read_facts",
            xid=taken["xid"],
            operation_id=taken["operation_id"],
            seq=taken["seq"],
            most=most,
        )
        if not rows or not await self._insert(rows):
            return 0
        last = rows[-1]
        await self._ledger.pool.rows(
            "move_facts",
            consumer=CONSUMER,
            holder=self._holder,
            xid=last["xid"],
            operation_id=last["operation_id"],
            seq=last["seq"],
        )
        return len(rows)

    async def ship_matters(self, *, most: int = BATCH) -> int:
        """Copy proposals and questions that are new or moved on; how many. Zeros as `ship`.

        Raises:
            DatabaseUnreachable: PostgreSQL does not answer; nothing is lost.
        """
        taken = await self._ledger.pool.row(
            "take_facts", consumer=CONSUMER, holder=self._holder, hold_s=HOLD_S
        )
        if taken is None:
            return 0
        try:
            return await copy_matters(self._ledger, self._clickhouse, most=most)
        except (ClickHouseUnreachable, UnsupportedSchema) as error:
            _log.info("proposals and questions wait: %s", error)
            return 0

    async def leave(self) -> None:
        """End this holder's turn, so that another need not wait until it lapses."""
        with contextlib.suppress(DatabaseUnreachable):  # it lapses by itself
            await self._ledger.pool.rows("leave_facts", consumer=CONSUMER, holder=self._holder)

    async def lag(self) -> Lag:
        """How much waits.

        Raises:
            DatabaseUnreachable: PostgreSQL does not answer.
        """
        row = await self._ledger.pool.row("lag_of_facts", consumer=CONSUMER, most=_COUNTED_MOST)
        return Lag(0, 0) if row is None else Lag(row["waiting"], row["oldest_s"])

    async def _insert(self, rows: list[dict[str, Any]]) -> bool:
        facts = [fact(self._ledger.identity.ledger_id, row) for row in rows]
        try:
            await asyncio.to_thread(self._clickhouse.insert_facts, COLUMNS, facts)
        except (ClickHouseUnreachable, UnsupportedSchema) as error:
            _log.info("ledger facts wait: %s", error)
            return False
        return True

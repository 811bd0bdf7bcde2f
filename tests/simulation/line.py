"""The line to the database: one real connection for a whole world, on the world's clock."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import psycopg
from psycopg.rows import DictRow

from ledger.postgres.statements import sql
from tests.simulation.stage import Stage

CONSTANT: Final = frozenset(
    {
        "SHOW synchronous_commit",
        "SELECT to_regclass('ledger_identity') AS found",
        "SELECT min_reader_version FROM ledger_identity",
    }
)
"""What every process asks when it opens the ledger, and is answered alike in every world."""

_LEAP: Final = b"""
WITH clock AS (UPDATE test_clock SET at = %(at)s::timestamptz),
     mark AS (UPDATE ledger_identity SET high_water = %(at)s::timestamptz
               WHERE high_water < %(at)s::timestamptz AND cardinality(%(living)s::uuid[]) > 0)
UPDATE workers SET heartbeat_at = %(at)s::timestamptz
 WHERE incarnation = ANY(%(living)s::uuid[]) AND ended_at IS NULL"""


@dataclass(slots=True)
class Line:
    """The connection and the stage that it is shared on."""

    db: psycopg.Connection[DictRow]
    stage: Stage
    constant: dict[str, list[DictRow]]
    """What `CONSTANT` statements answer, once asked."""
    off_s: float = 0.0
    """How far the database's clock is off."""
    _told: datetime | None = None
    _beaten: list[UUID] | None = None
    """Who has beaten while time went by, until it is written with the next statement."""
    _seen: dict[bytes, list[DictRow]] = field(default_factory=dict[bytes, list[DictRow]])

    def now(self) -> datetime:
        """The database's clock."""
        return self.stage.now + timedelta(seconds=self.off_s)

    def run(self, query: Any, params: Any = None) -> psycopg.Cursor[DictRow]:
        """Run a statement now, on the world's clock; nobody's turn."""
        self._seen.clear()
        if self._told == self.now():
            return self.db.execute(query, params)
        with self.db.pipeline():  # one round trip for both
            self.set_clock()
            return self.db.execute(query, params)

    def peek(self, query: bytes) -> list[DictRow]:
        """What stands there, whatever the clock; asked again only after another statement."""
        if query not in self._seen:
            self._seen[query] = self.db.execute(query).fetchall()
        return self._seen[query]

    def forget(self) -> None:
        """The rows are others than they were."""
        self._seen.clear()
        self._beaten = None

    def leap(self, living: list[UUID]) -> None:
        """Time goes by, more than a heartbeat; those who live beat meanwhile."""
        self._beaten = living

    def set_clock(self) -> None:
        """Move the settable clock, if time has passed."""
        now = self.now()
        if now == self._told:
            return
        self._told = now
        if self._beaten is None:
            self.db.execute(sql("set_clock"), {"at": now})
        else:
            self.db.execute(_LEAP, {"at": now, "living": self._beaten})
            self._beaten = None

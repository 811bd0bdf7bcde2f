"""The ledger: everything that can be asked of it, over the writer and a small pool."""

from dataclasses import dataclass
from datetime import datetime
from typing import Self
from uuid import UUID

from ledger.postgres.answers import Answers
from ledger.postgres.authorizing import Authorizing
from ledger.postgres.bulk import BulkRequests
from ledger.postgres.connect import LOST, Database, Pool, check_server, unreachable
from ledger.postgres.escalations import Escalations
from ledger.postgres.holding import Holding
from ledger.postgres.moving import Moving
from ledger.postgres.outbox import Outbox
from ledger.postgres.proposals import Proposals
from ledger.postgres.restoring import Restorations
from ledger.postgres.runs import Runs
from ledger.postgres.sweeping import Sweeps
from ledger.postgres.switches import Switches
from ledger.postgres.writer import GroupWriter


@dataclass(frozen=True, slots=True)
class Identity:
    """Which ledger this is: what markers at the provider carry."""

    ledger_id: UUID
    epoch: int
    is_test: bool


class Ledger(Authorizing, Moving, Holding):
    """A transactional record of operations in PostgreSQL.

    Every method raises `DatabaseUnreachable` where PostgreSQL does not answer; what was
    acknowledged before stands.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(Pool(database), GroupWriter(database))
        self.database = database
        self.escalations = Escalations(self.pool)
        self.answers = Answers(self.pool)
        self.bulk = BulkRequests(self.pool)
        self.switches = Switches(self.pool)
        self.proposals = Proposals(self.pool)
        self.runs = Runs(self.pool)
        self.outbox = Outbox(self.pool)
        self.restorations = Restorations(self.pool)
        self.sweeps = Sweeps(self.pool)
        self.identity = Identity(UUID(int=0), 0, is_test=False)

    async def __aenter__(self) -> Self:
        """Check the server, then open.

        Raises:
            SchemaMismatch: No ledger here, or one that needs newer code.
            UnsafeDatabase: The server could lose what it acknowledged.
            DatabaseUnreachable: Nobody answers, or the connection was lost on the way.
        """
        connection = await self.database.open()
        try:
            async with connection:
                await check_server(connection)
        except LOST as error:
            raise unreachable(error) from error
        await self.pool.open()
        row = await self.pool.row("identity")
        assert row is not None  # noqa: S101  the migration wrote it
        self.identity = Identity(row["ledger_id"], row["epoch"], row["is_test"])
        self._writer.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Write what waits, then close every connection."""
        await self._writer.close()
        await self.pool.close()

    async def now(self) -> datetime:
        """The ledger's clock."""
        row = await self.pool.row("now")
        assert row is not None  # noqa: S101  a SELECT without FROM has one row
        at: datetime = row["at"]
        return at

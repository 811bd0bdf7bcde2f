"""Reading operations: with their authorization and attempts, as they stand."""

from collections.abc import Sequence
from uuid import UUID

from ledger.errors import UnknownOperation
from ledger.model import Operation
from ledger.postgres.connect import Pool
from ledger.postgres.rows import operation_of
from ledger.postgres.writer import GroupWriter


class Reading:
    """What every part of the ledger builds on: the pool, the writer, and reading."""

    def __init__(self, pool: Pool, writer: GroupWriter) -> None:
        self.pool = pool
        self._writer = writer

    async def operation(self, operation_id: UUID) -> Operation:
        """Read one operation with its authorization and attempts.

        Raises:
            UnknownOperation: There is none with this id.
        """
        found = await self.operations([operation_id])
        if not found:
            raise UnknownOperation(operation_id)
        return found[0]

    async def operations(self, operation_ids: Sequence[UUID]) -> list[Operation]:
        """Read several; unknown ids are left out. Whose key window ends first comes first."""
        if not operation_ids:
            return []
        rows = await self.pool.rows("read_operations", ids=list(operation_ids))
        return [operation_of(row) for row in rows]

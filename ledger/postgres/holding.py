"""Holding: who works on an operation, under which fence, until when."""

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from ledger.canonical import canonical
from ledger.commands import Worker
from ledger.errors import StaleCase
from ledger.model import Operation
from ledger.postgres.events import event
from ledger.postgres.reading import Reading


class Holding(Reading):
    """The part of the ledger that hands operations out and takes them back."""

    async def claim(
        self, worker: Worker, *, share: int, lease_s: float, full: Collection[str] = ()
    ) -> list[Operation]:
        """Take what is due, at most `share` a provider account, under a new fence.

        Args:
            worker: The new owner.
            share: The most to take from one account.
            lease_s: How long the worker may hold them.
            full: Accounts (`stripe/acct_…`) to take nothing from.
        """
        told = canonical({"worker": worker.identity}).decode()
        rows = await self.pool.rows(
            "claim",
            owner=worker.incarnation,
            actor=worker.name,
            share=share,
            full=list(full),
            lease_s=lease_s,
            payload=told,
        )
        return await self._held({row["id"]: row["fence"] for row in rows})

    async def _held(self, fences: Mapping[UUID, int]) -> list[Operation]:
        """Read what was claimed; what somebody has taken over meanwhile is not ours any more."""
        read = await self.operations(list(fences))
        return [operation for operation in read if operation.fence == fences[operation.id]]

    async def claim_one(
        self, operation_id: UUID, worker: Worker, *, case_version: int, lease_s: float
    ) -> Operation:
        """Take one operation that nobody alive is sending.

        Raises:
            StaleCase: It is being sent, or something was learned since it was read.
        """
        told = canonical({"worker": worker.identity}).decode()
        row = await self.pool.row(
            "claim_one",
            id=operation_id,
            owner=worker.incarnation,
            actor=worker.name,
            lease_s=lease_s,
            payload=told,
            case_version=case_version,
        )
        held = [] if row is None else await self._held({row["id"]: row["fence"]})
        if not held:
            raise StaleCase(operation_id, case_version)
        return held[0]

    async def release(self, operations: Sequence[Operation], *, check_s: float) -> None:
        """Give operations back unchanged, to be due in `check_s` seconds."""
        await self.pool.rows(
            "release",
            ids=[operation.id for operation in operations],
            fences=[operation.fence for operation in operations],
            check_s=check_s,
        )

    async def wake(
        self,
        operation_id: UUID,
        *,
        actor: str,
        kind: str,
        told: dict[str, object],
        expected: int | None = None,
    ) -> int:
        """Have an operation looked at soon; returns its new case version.

        Raises:
            StaleCase: `expected` is no longer its case version.
            UnknownOperation: There is none with this id.
        """
        given = event(actor, told)
        row = await self.pool.row(
            "wake",
            id=operation_id,
            kind=kind,
            expected=expected,
            salt=bytes.fromhex(given.pop("salt_hex")),
            **given,
        )
        if row is None:
            await self.operation(operation_id)
            raise StaleCase(operation_id, -1 if expected is None else expected)
        version: int = row["case_version"]
        return version

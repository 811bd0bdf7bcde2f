"""Restored backups: from the moment that one is known until a person releases it.

Meanwhile nothing leaves (`stopped_by` in the schema says so), and everything that was not final
in the backup is in question: attempts may be missing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from ledger.canonical import canonical
from ledger.errors import OutliveError
from ledger.postgres.connect import Pool
from ledger.postgres.statements import sql

SLACK_S: Final = 86_400.0
"""From how long before the backup the provider's lists are read: clocks differ."""

UNCLEAR: Final = (
    "SETTLING",
    "PROVIDER_AUTH",
    "PROVIDER_UNREACHABLE",
    "TARGET_NOT_VISIBLE",
    "NOT_YET_CLOCK",
)
"""Decisions after which it is still not known what an operation has done."""


class NotClean(OutliveError):
    """A restored backup can't be released yet; each reason is named."""

    code = "not_clean"

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = tuple(reasons)


@dataclass(frozen=True, slots=True)
class Swept:
    """How far one list of the provider was compared."""

    type: str
    account: str
    until: datetime
    compared: int
    trouble: str | None


@dataclass(frozen=True, slots=True)
class Restoration:
    """The last restored backup, and how far it has been made good."""

    epoch: int
    began_at: datetime
    began_by: str
    reason: str
    backup_at: datetime
    """What happened since then is lost."""
    at: datetime
    sweep_to: datetime
    """Nothing that the lost history sent can appear at the provider after it."""
    open_before: int
    """Operations that the backup held as not final."""
    still_open: int
    asked: int
    """Of those: before a person."""
    unclear: int
    """Of those: neither known at the provider nor before a person."""
    imported: int
    unrecorded: int
    unanswered: int
    sweeps: tuple[Swept, ...]
    accounts: int
    released_at: datetime | None
    released_by: str | None

    @property
    def reasons(self) -> list[str]:
        """Why it can't be released; empty where it can."""
        found = [
            f"the sweep of {one.type} at {one.account} has come to {_clock(one.until)}, it must "
            f"come to {_clock(self.sweep_to)}" + (f" ({one.trouble})" if one.trouble else "")
            for one in self.sweeps
            if one.until < self.sweep_to
        ]
        if not self.sweeps:
            found.append("no sweep has begun: start `outlive worker`, it sends nothing meanwhile")
        if self.unclear:
            found.append(
                f"{self.unclear} operations are neither clear at the provider nor before a person: "
                "a worker goes on looking; `outlive ops` says where they are"
            )
        if self.unanswered:
            found.append(
                f"{self.unanswered} effects without an operation wait for an answer: "
                "`outlive escalations`"
            )
        return found


class Restorations:
    """Begins, tells and ends the quarantine of a restored backup."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def begin(
        self, *, by: str, reason: str, backup_at: datetime | None = None, outside_epoch: int = 0
    ) -> int:
        """Hold everything back and put it in question; the epoch that begins.

        Where a quarantine is on already it stays, reaching back further if need be.

        Args:
            by: Who found out.
            reason: How.
            backup_at: When the backup was taken, at the earliest; by default where its own clock's
                mark stands.
            outside_epoch: The epoch that is known outside the database.
        """
        told = canonical({"reason": reason}).decode()
        async with self._pool.connection() as connection, connection.transaction():
            cursor = await connection.execute(sql("restoration_open"))
            known = await cursor.fetchone()
            if known is None or known["epoch"] is None:
                cursor = await connection.execute(
                    sql("restoration_begin"),
                    {
                        "outside_epoch": outside_epoch,
                        "by": by,
                        "actor": by,
                        "reason": reason,
                        "backup_at": backup_at,
                        "payload": told,
                    },
                )
            elif backup_at is not None:
                cursor = await connection.execute(
                    sql("restoration_reach_back"), {"backup_at": backup_at}
                )
            else:
                return int(known["epoch"])
            begun = await cursor.fetchone()
            assert begun is not None  # noqa: S101  the identity has one row, and it is locked
            await connection.execute(sql("sweep_again"), {"slack_s": SLACK_S})
            return int(begun["epoch"])

    async def last(self, *, settle_s: float) -> Restoration | None:
        """The last one and how it stands; `None` where there was none.

        Args:
            settle_s: How long after it began something sent before may still take effect.
        """
        row = await self._pool.row("restoration_status", unclear=list(UNCLEAR), settle_s=settle_s)
        return None if row is None else _restoration(row)

    async def release(self, *, by: str, settle_s: float) -> Restoration:
        """End the quarantine.

        Raises:
            NotClean: Something is not known yet, or nothing is in quarantine; each reason named.
        """
        found = await self.last(settle_s=settle_s)
        if found is None or found.released_at is not None:
            raise NotClean(["nothing is in quarantine"])
        if found.reasons:
            raise NotClean(found.reasons)
        released = await self._pool.row(
            "restoration_release", by=by, epoch=found.epoch, backup_at=found.backup_at
        )
        if released is None:
            raise NotClean(["somebody released it, or put its backup further back, this moment"])
        return found


def _restoration(row: Mapping[str, Any]) -> Restoration:
    return Restoration(
        epoch=row["epoch"],
        began_at=row["began_at"],
        began_by=row["began_by"],
        reason=row["reason"],
        backup_at=row["backup_at"],
        at=row["at"],
        sweep_to=row["sweep_to"],
        open_before=row["open_before"],
        still_open=row["open"],
        asked=row["asked"],
        unclear=row["unclear"],
        imported=row["imported"],
        unrecorded=row["unrecorded"],
        unanswered=row["unanswered"],
        sweeps=tuple(
            Swept(
                type=one["type"],
                account=one["account"],
                until=datetime.fromisoformat(one["swept_until"]),
                compared=one["compared"],
                trouble=one["trouble"],
            )
            for one in row["sweeps"]
        ),
        accounts=row["accounts"],
        released_at=row["released_at"],
        released_by=row["released_by"],
    )


def _clock(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"

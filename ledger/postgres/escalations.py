"""Escalations in PostgreSQL: one open for each operation, account or effect."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from ledger.commands import DecisionWrite
from ledger.errors import OutliveError, StaleCase, StaleFence, Stop
from ledger.escalations import ABOUT_LOOKING, NEEDS_A_PERSON, Escalation
from ledger.ids import new_id
from ledger.model import Json, Money
from ledger.postgres.connect import Connection, Pool
from ledger.postgres.decision_writes import ApplyDecision, DecisionItem
from ledger.postgres.statements import sql

_DECIDE = ApplyDecision()


class UnknownEscalation(OutliveError):
    """No such question in this ledger."""

    code = "unknown_escalation"


class EscalationClosed(OutliveError):
    """Somebody, or the provider's answer, was faster."""

    code = "escalation_closed"


class NotYours(OutliveError):
    """Somebody else is on it, or nobody."""

    code = "claim_not_yours"


@dataclass(frozen=True, slots=True)
class Question:
    """What is put to a person about one operation."""

    reasons: Sequence[str]
    dossier: Mapping[str, Json]
    window_ends_at: datetime | None


@dataclass(frozen=True, slots=True)
class Opened:
    """What became of a question that was put."""

    is_new: bool
    joined: bool
    """It gave the open question a further reason, and so raised the case version by one."""


class Escalations:
    """Opens, lists, claims and closes questions."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def open(self, write: DecisionWrite, question: Question, *, actor: str) -> Opened:
        """Write the decision and its question in one commit; what became of the question.

        Raises:
            StaleFence, StaleCase: The decision was made on an older picture.
        """
        async with self._pool.connection() as connection, connection.transaction():
            await apply_write(connection, write, actor)
            cursor = await connection.execute(
                sql("open_escalation"),
                {
                    "id": new_id(),
                    "operation_id": write.operation.id,
                    "reasons": list(question.reasons),
                    "dossier": json.dumps(question.dossier),
                    "window_ends_at": question.window_ends_at,
                },
            )
            row = await cursor.fetchone()
        assert row is not None  # noqa: S101  the operation was written in this transaction
        return Opened(is_new=row["is_new"], joined=row["joined"])

    async def settle(self, write: DecisionWrite, *, actor: str) -> None:
        """Write a decision that answers the doubt; questions that only asked about it close.

        Raises:
            StaleFence, StaleCase: The decision was made on an older picture.
        """
        async with self._pool.connection() as connection, connection.transaction():
            await connection.execute(sql("lock_operation"), {"id": write.operation.id})
            cursor = await connection.execute(sql("read_escalation"), {"id": write.operation.id})
            row = await cursor.fetchone()
            reasons: list[str] = [] if row is None else row["reasons"]
            settled = [reason for reason in reasons if reason not in NEEDS_A_PERSON]
            cursor = await connection.execute(
                sql("settle_escalation"),
                {"operation_id": write.operation.id, "settled": settled},
            )
            closed = await cursor.fetchone()
            stays = closed is not None and not closed["closed"]
            await apply_write(connection, write, actor, escalated=stays)

    async def open_account(
        self,
        provider: str,
        account: str,
        *,
        reason: str,
        member: UUID,
        dossier: Mapping[str, Json],
    ) -> bool:
        """Ask once about a whole account; whether the question is new."""
        row = await self._pool.row(
            "open_account_escalation",
            id=new_id(),
            provider=provider,
            account=account,
            reason=reason,
            member=member,
            dossier=json.dumps(dossier),
        )
        return row is not None and bool(row["is_new"])

    async def close_account(self, provider: str, account: str) -> None:
        """The provider answers again: nobody needs to be asked about the account."""
        await self._pool.rows(
            "close_account_escalation",
            provider=provider,
            account=account,
            settled=list(ABOUT_LOOKING),
        )

    async def claim(self, escalation_id: UUID, *, by: str, for_s: float) -> datetime:
        """Say who is on it, until when.

        Raises:
            EscalationClosed: Answered, or claimed by somebody else.
        """
        row = await self._pool.row("claim_escalation", id=escalation_id, by=by, for_s=for_s)
        if row is None:
            raise EscalationClosed("it is answered already, or somebody else is on it")
        until: datetime = row["claimed_until"]
        return until

    async def release(self, escalation_id: UUID, *, by: str) -> None:
        """Let go of it; people are paged again.

        Raises:
            NotYours: It is not this person who is on it.
        """
        if await self._pool.row("release_escalation", id=escalation_id, by=by) is None:
            raise NotYours("you are not on it, so there is nothing to release")

    async def extend(self, escalation_id: UUID, *, by: str, for_s: float) -> datetime:
        """Stay on it longer; until when.

        Raises:
            NotYours: It is not this person who is on it, or their claim has lapsed.
        """
        row = await self._pool.row("extend_escalation", id=escalation_id, by=by, for_s=for_s)
        if row is None:
            raise NotYours("you are not on it any more; claim it again")
        until: datetime = row["claimed_until"]
        return until

    async def get(self, any_id: UUID) -> Escalation:
        """Find one by its own id or its operation's; the open one first.

        Raises:
            UnknownEscalation: Neither is known.
        """
        row = await self._pool.row("read_escalation", id=any_id)
        if row is None:
            raise UnknownEscalation(
                f"nobody was ever asked about {any_id}; `outlive escalations` lists what is open"
            )
        return escalation_of(row)

    async def open_ones(self, *, limit: int = 100) -> list[Escalation]:
        """The open questions, ordered by what is lost first: window, money, age."""
        rows = await self._pool.rows("list_escalations", limit=limit)
        return [escalation_of(row) for row in rows]

    async def without_evidence(
        self, *, after_s: float, again_s: float, limit: int
    ) -> list[tuple[UUID, UUID]]:
        """Open questions that evidence is to be gathered for: their ids, their operations'.

        Args:
            after_s: Not before they are so old.
            again_s: After so long again, where a source did not answer.
            limit: So many at most.
        """
        rows = await self._pool.rows(
            "escalations_without_evidence", after_s=after_s, again_s=again_s, limit=limit
        )
        return [(row["id"], row["operation_id"]) for row in rows]

    async def attach(self, escalation_id: UUID, evidence: Mapping[str, Json]) -> None:
        """Keep evidence beside the dossier, while the question is open."""
        await self._pool.rows("attach_evidence", id=escalation_id, evidence=json.dumps(evidence))


async def apply_write(
    connection: Connection, write: DecisionWrite, actor: str, *, escalated: bool | None = None
) -> None:
    """Write a decision in the transaction that is open.

    Raises:
        StaleFence, StaleCase: The decision was made on an older picture.
    """
    item = DecisionItem.of(write, actor)
    if escalated is not None:
        item = item.but_escalated(escalated=escalated)
    [result] = await _DECIDE.run(connection, [item])
    if result is Stop.STALE_FENCE:
        raise StaleFence(write.operation.id, write.operation.fence)
    if result is Stop.STALE_CASE:
        raise StaleCase(write.operation.id, write.operation.case_version)


def escalation_of(row: Mapping[str, Any]) -> Escalation:
    """One row of `escalations` as a value."""
    return Escalation(
        id=row["id"],
        scope=row["scope"],
        operation_id=row["operation_id"],
        provider=row["provider"],
        account=row["account"],
        reference=row["reference"],
        reasons=tuple(row["reasons"]),
        members=tuple(row["members"]),
        opened_at=row["opened_at"],
        money=None
        if row["amount_minor"] is None or row["currency"] is None
        else Money(row["amount_minor"], row["currency"]),
        window_ends_at=row["window_ends_at"],
        dossier=row["dossier"],
        claimed_by=row["claimed_by"],
        claimed_until=row["claimed_until"],
        closed_at=row["closed_at"],
        closed_by=row["closed_by"],
        verdict=row["verdict"],
        note=row["note"],
        evidence=row["evidence"],
        asked=row["asked"],
    )

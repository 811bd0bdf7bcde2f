"""People's answers in PostgreSQL: signed, counted and written down, in one commit."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from ledger.canonical import digest
from ledger.commands import DecisionWrite
from ledger.errors import OutliveError, StaleCase
from ledger.escalations import Signature
from ledger.ids import new_id
from ledger.model import Json
from ledger.postgres.connect import Connection, Pool
from ledger.postgres.escalations import EscalationClosed, apply_write
from ledger.postgres.events import event
from ledger.postgres.statements import sql


class SignedAlready(OutliveError):
    """One person is one person, however often they sign."""

    code = "signed_already"


class NotSigned(OutliveError):
    """There is no signature of this person to take back."""

    code = "not_signed"


@dataclass(frozen=True, slots=True)
class Renewal:
    """A new authorization by the person who decides to send again."""

    by: str
    until: datetime


@dataclass(frozen=True, slots=True)
class Given:
    """An answer as it is written down, by whom, and what the policy asks of it."""

    escalation_id: UUID
    by: str
    verdict: str
    note: str
    names: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """What belongs to the answer beside its word: `reference`, `until`."""
    above_minor: Mapping[str, int] = field(default_factory=dict[str, int])
    """From the policy: above which amount two people must answer, by currency."""

    @property
    def answer(self) -> dict[str, Json]:
        """What is signed."""
        return {"verdict": self.verdict, **self.names}


class Answers:
    """Writes people's answers, or the first of two signatures."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def give(
        self, given: Given, write: DecisionWrite, *, renewal: Renewal | None = None
    ) -> bool:
        """Write a person's verdict and close the question, in one commit.

        Where two people are needed and nobody else has signed this answer, it is signed instead:
        nothing else is written. Whether the question was closed.

        Raises:
            EscalationClosed: It was answered meanwhile.
            SignedAlready: The same person again.
            StaleFence, StaleCase: Something was learned since the person read it.
        """
        operation = write.operation
        async with self._pool.connection() as connection, connection.transaction():
            await connection.execute(sql("lock_operation"), {"id": operation.id})
            closed = await _close(connection, given)
            if not closed["closed"]:
                await _sign(connection, given, write)
                return False
            await _still_nobodys(connection, write)
            if closed["first"] is not None:
                write = replace(write, told={**write.told, "signed_by": closed["first"]})
            await apply_write(connection, write, given.by)
            if renewal is not None:
                await connection.execute(
                    sql("renew_authorization"),
                    {
                        "id": new_id(),
                        "operation_id": operation.id,
                        "by": renewal.by,
                        "until": renewal.until,
                    },
                )
        return True

    async def close(self, given: Given) -> bool:
        """Close a question that is not about one operation, or sign; whether it was closed.

        Raises:
            EscalationClosed: It was answered meanwhile.
            SignedAlready: The same person again.
        """
        async with self._pool.connection() as connection, connection.transaction():
            closed = await _close(connection, given)
            if not closed["closed"]:
                await _put_signature(connection, given, case_version=0)
        return bool(closed["closed"])

    async def withdraw(self, escalation_id: UUID, operation_id: UUID | None, *, by: str) -> None:
        """Take a signature back, until the second person has answered.

        Raises:
            NotSigned: This person has signed nothing here, or the question is answered.
        """
        async with self._pool.connection() as connection, connection.transaction():
            if operation_id is not None:
                await connection.execute(sql("lock_operation"), {"id": operation_id})
            cursor = await connection.execute(
                sql("withdraw_signature"), {"id": escalation_id, "by": by}
            )
            row = await cursor.fetchone()
            if row is None:
                raise NotSigned("you have not signed an answer here, or it is answered by now")
            if operation_id is not None:
                await _tell(connection, operation_id, by, "signature_withdrawn", row["answer"])

    async def signatures(self, escalation_ids: Sequence[UUID]) -> list[Signature]:
        """Who has signed what, the first signature first."""
        rows = await self._pool.rows("list_signatures", ids=list(escalation_ids))
        return [
            Signature(
                row["escalation_id"],
                row["signer"],
                row["answer"],
                row["note"],
                row["signed_at"],
                row["case_version"],
                row["counts"],
            )
            for row in rows
        ]


async def _close(connection: Connection, given: Given) -> dict[str, Any]:
    cursor = await connection.execute(
        sql("close_escalation"),
        {
            "id": given.escalation_id,
            "by": given.by,
            "verdict": given.verdict,
            "note": given.note,
            "digest": digest(given.answer),
            "above": json.dumps(dict(given.above_minor)),
        },
    )
    row = await cursor.fetchone()
    if row is None:
        raise EscalationClosed(
            "this question was answered meanwhile; you changed nothing. "
            "`outlive show` tells by whom"
        )
    return row


async def _sign(connection: Connection, given: Given, write: DecisionWrite) -> None:
    """Sign on the case that was read; the operation's lock is held."""
    operation = write.operation
    cursor = await connection.execute(sql("read_operations"), {"ids": [operation.id]})
    stands = await cursor.fetchone()
    if stands is None or stands["case_version"] != operation.case_version:
        raise StaleCase(operation.id, operation.case_version)
    await _put_signature(connection, given, case_version=operation.case_version)
    told = {**given.answer, "note": given.note}
    await _tell(connection, operation.id, given.by, "answer_signed", told)


async def _put_signature(connection: Connection, given: Given, *, case_version: int) -> None:
    cursor = await connection.execute(
        sql("sign_answer"),
        {
            "id": given.escalation_id,
            "by": given.by,
            "case_version": case_version,
            "answer": json.dumps(given.answer),
            "digest": digest(given.answer),
            "note": given.note,
        },
    )
    if await cursor.fetchone() is None:
        raise SignedAlready(
            "you have signed this answer already; somebody else must give it too before anything "
            "happens. Nothing was sent."
        )


async def _tell(
    connection: Connection, operation_id: UUID, by: str, kind: str, told: Mapping[str, Json]
) -> None:
    given = event(by, told)
    salt = bytes.fromhex(given.pop("salt_hex"))
    await connection.execute(
        sql("tell_event"), {"id": operation_id, "kind": kind, "salt": salt, **given}
    )


async def _still_nobodys(connection: Connection, write: DecisionWrite) -> None:
    """Two people may name the same effect at the same moment: the later one reads again."""
    operation = write.operation
    reference = write.reference or (write.result or {}).get("done_by_hand")
    if reference is None:
        return
    named = {"provider": operation.provider, "reference": reference}
    await connection.execute(sql("lock_reference"), named)
    cursor = await connection.execute(sql("used_reference"), {**named, "id": operation.id})
    if await cursor.fetchone() is not None:
        raise StaleCase(operation.id, operation.case_version)

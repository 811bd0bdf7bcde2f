"""The write that makes operations: a decided batch, whole or not at all."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from ledger.commands import NewAuthorization, NewOperation
from ledger.postgres.connect import Connection
from ledger.postgres.events import event
from ledger.postgres.statements import sql

LOOK_ALIKE_S: Final = 30 * 86_400
"""How far back an effect of the same family on the same target counts as a look-alike."""


class Verdict(StrEnum):
    """How the ledger took a batch."""

    NEW = "new"
    KNOWN = "known"
    """The request key came before."""
    AGAIN = "again"
    """The same request is being written by somebody else right now: ask again."""
    ALIKE = "alike"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on one batch, with what it rests on."""

    verdict: Verdict
    known_id: UUID | None
    known_digest: str | None
    older: Mapping[int, Sequence[UUID]]
    at: datetime
    """The ledger's clock, as the operations have it."""


@dataclass(frozen=True, slots=True)
class AuthorizeItem:
    """A batch as the rows of its statement."""

    wanted: NewAuthorization
    rows: tuple[dict[str, Any], ...]

    @classmethod
    def of(cls, wanted: NewAuthorization) -> "AuthorizeItem":
        """Give each operation its first event."""
        return cls(
            wanted,
            tuple(_row(wanted, number, new) for number, new in enumerate(wanted.operations, 1)),
        )


class Authorize:
    """`authorize`: batches that share a target or a request key take turns."""

    name = "authorize"

    def keys(self, item: AuthorizeItem) -> frozenset[str]:
        """Targets and request key."""
        wanted = item.wanted
        return frozenset(new.subject.target for new in wanted.operations) | {
            f"{wanted.requested_by} {wanted.request_key}"
        }

    async def run(self, connection: Connection, items: Sequence[AuthorizeItem]) -> Sequence[Judged]:
        """Record what is new; say why the rest is not."""
        proposals = [_proposal(i, item.wanted) for i, item in enumerate(items)]
        operations = [{"i": i, **row} for i, item in enumerate(items) for row in item.rows]
        cursor = await connection.execute(
            sql("authorize"),
            {
                "proposals": json.dumps(proposals),
                "operations": json.dumps(operations),
                "look_alike_s": LOOK_ALIKE_S,
            },
        )
        return [_judged(row) for row in await cursor.fetchall()]

    async def stands(self, connection: Connection, item: AuthorizeItem) -> Judged | None:
        """Whether the commit stands: asked when it is this one's turn on its targets."""
        wanted = item.wanted
        targets = [new.subject.target for new in wanted.operations]
        async with connection.transaction():
            await connection.execute(sql("lock_new_targets"), {"targets": targets})
            cursor = await connection.execute(sql("find_proposal"), {"id": wanted.proposal_id})
            found = await cursor.fetchone()
        return None if found is None else Judged(Verdict.NEW, None, None, {}, found["created_at"])


def _judged(row: Mapping[str, Any]) -> Judged:
    older: Mapping[str, Sequence[str]] = row["older"] or {}
    return Judged(
        Verdict(row["verdict"]),
        row["known_id"],
        row["known_digest"],
        {int(item): tuple(UUID(text) for text in ids) for item, ids in older.items()},
        row["at"],
    )


def _proposal(i: int, wanted: NewAuthorization) -> dict[str, Any]:
    return {
        "i": i,
        "id": str(wanted.proposal_id),
        "type": wanted.type,
        "type_version": wanted.type_version,
        "requested_by": wanted.requested_by,
        "request_key": wanted.request_key,
        "input_digest": wanted.input_digest,
        "items": len(wanted.operations),
        "mode": wanted.mode,
        "decided_by": wanted.decided_by,
        "reason": wanted.reason,
        "authorization_id": str(wanted.authorization_id),
        "authorized_until": wanted.authorized_until.isoformat(),
        "resend_until": wanted.resend_until.isoformat(),
        "owner": None if wanted.owner is None else str(wanted.owner),
        "lease_s": wanted.lease_s,
    }


def _row(wanted: NewAuthorization, number: int, new: NewOperation) -> dict[str, Any]:
    return {
        **operation_columns(new),
        "item": number,
        "separate": new.separate,
        **event(
            wanted.decided_by,
            {
                "authorization": str(wanted.authorization_id),
                "requested_by": wanted.requested_by,
                "digest": new.request_digest,
                "parameters": dict(new.parameters),
            },
        ),
    }


def operation_columns(new: NewOperation) -> dict[str, Any]:
    """What never changes about an operation, as the columns that record it."""
    subject = new.subject
    money = subject.money
    return {
        "id": str(new.id),
        "adapter_version": new.adapter_version,
        "provider": new.provider,
        "family": new.family,
        "account": subject.account,
        "livemode": subject.livemode,
        "object_id": subject.object_id,
        "connected_account": subject.connected_account,
        "target": subject.target,
        "amount_minor": None if money is None else money.amount_minor,
        "currency": None if money is None else money.currency,
        "parameters": dict(new.parameters),
        "request": new.request.decode(),
        "request_digest": new.request_digest,
        "idempotency_key": str(new.id),
        "snapshot": dict(new.snapshot),
        "trace_context": new.trace_context,
    }

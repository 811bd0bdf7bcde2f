"""Writes for tests of the ledger, and what is to be seen of them afterwards."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from ledger.commands import DecisionWrite, Recording, Worker
from ledger.model import Answer, Operation, Outcome, State
from ledger.postgres.connect import Connection
from ledger.postgres.events import event
from ledger.postgres.ledger import Ledger
from ledger.postgres.statements import sql
from tests.support.ledgers import LEASE_S, authorized, new_operation, sending, worker


async def due(ledger: Ledger, *object_ids: str, by: Worker | None = None) -> list[Operation]:
    """Operations on these objects, claimed, in the order of the objects."""
    made = await authorized(ledger, *(new_operation(name) for name in object_ids or ("ch_1",)))
    claimed = await ledger.claim(by or worker(), share=1000, lease_s=LEASE_S)
    held = {operation.id: operation for operation in claimed}
    return [held[operation.id] for operation in made]


async def sent(ledger: Ledger, *object_ids: str, by: Worker) -> list[Operation]:
    """Operations that `by` holds and has sent; nobody knows yet what became of them."""
    held = await due(ledger, *object_ids, by=by)
    for operation in held:
        await ledger.begin_attempt(sending(operation, by))
    return held


def recording(
    operation: Operation,
    answer: Answer | None = None,
    *,
    number: int = 1,
    state: State = State.CONFIRMED,
    in_doubt: bool = False,
    check_s: float | None = None,
) -> Recording:
    """The answer of an attempt; by default it was accepted."""
    return Recording(
        operation=operation,
        number=number,
        answer=answer or Answer(Outcome.ACCEPTED, reference=f"re_{operation.id}"),
        state=state,
        in_doubt=in_doubt,
        failure_code=None,
        check_s=check_s,
    )


def decision(
    operation: Operation,
    *,
    state: State = State.CONFIRMED,
    in_doubt: bool = False,
    release: bool = True,
    code: str = "FOUND",
) -> DecisionWrite:
    """A decision of recovery; by default the effect was found."""
    return DecisionWrite(
        operation=operation,
        state=state,
        in_doubt=in_doubt,
        line=1,
        code=code,
        action="test",
        considered={},
        code_version="test",
        table_version=1,
        check_s=None,
        release=release,
    )


async def query(ledger: Ledger, statement: str, *values: object) -> list[dict[str, Any]]:
    """Rows of any statement, each committed by itself."""
    async with ledger.pool.connection() as connection:
        cursor = await connection.execute(statement.encode(), values)
        return await cursor.fetchall() if cursor.description else []


async def history(ledger: Ledger, operation_id: UUID) -> list[str]:
    """The kinds of an operation's events, oldest first."""
    rows = await query(
        ledger, "SELECT kind FROM events WHERE operation_id = %s ORDER BY seq", operation_id
    )
    return [row["kind"] for row in rows]


async def everything(ledger: Ledger) -> Sequence[Any]:
    """All that the ledger knows of operations: equal before and after means nothing happened."""
    return [
        await query(ledger, "SELECT * FROM operations ORDER BY id"),
        await query(ledger, "SELECT * FROM attempts ORDER BY operation_id, number"),
        await query(ledger, "SELECT * FROM events ORDER BY operation_id, seq"),
        await query(ledger, "SELECT * FROM event_payloads ORDER BY operation_id, seq"),
    ]


async def claim_by_another(connection: Connection) -> None:
    """Take over everything, as if its lease had ended."""
    await connection.execute(
        "UPDATE operations SET fence = fence + 1, owner = %s, lease_until = ledger_now() + '1 min'",
        [uuid4()],
    )


async def learn_something(connection: Connection, operation: Operation) -> None:
    """Raise the case version, as a webhook does."""
    given = event("webhook", {})
    salt = bytes.fromhex(given.pop("salt_hex"))
    await connection.execute(
        sql("wake"),
        {"id": operation.id, "kind": "webhook", "expected": None, "salt": salt, **given},
    )

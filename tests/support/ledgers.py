"""Ledgers and operations for tests: real statements on a real server, made-up effects."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest

from ledger.canonical import canonical, digest, digest_of_bytes
from ledger.commands import Authorized, NewAuthorization, NewOperation, Sending, Worker
from ledger.ids import new_id
from ledger.model import Money, Operation, Subject
from ledger.postgres.connect import Database
from ledger.postgres.ledger import Ledger

BUDGET_S = 5.0
LEASE_S = 90.0
SETTLE_S = 210.0


@asynccontextmanager
async def ledger_at(dsn: str) -> AsyncGenerator[Ledger]:
    """Open a ledger as one more process would."""
    async with Ledger(Database(dsn)) as ledger:
        yield ledger


@pytest.fixture
async def ledger(ledger_dsn: str) -> AsyncGenerator[Ledger]:
    """A ledger with nothing in it."""
    async with ledger_at(ledger_dsn) as opened:
        yield opened


def worker(identity: str = "w") -> Worker:
    """A worker that need not exist."""
    return Worker(uuid4(), identity, "here", 1)


def new_operation(
    object_id: str = "ch_1",
    *,
    amount_minor: int = 100,
    separate: bool = False,
    family: str = "refund",
) -> NewOperation:
    """An item that refunds a charge."""
    operation_id = new_id()
    request = canonical({"method": "post", "path": "/v1/refunds", "body": f"id={operation_id}"})
    return NewOperation(
        id=operation_id,
        adapter_version="test",
        provider="stripe",
        family=family,
        subject=Subject("acct_1", False, object_id, Money(amount_minor, "eur")),
        parameters={"charge": object_id, "amount_minor": amount_minor, "currency": "eur"},
        request=request,
        request_digest=digest_of_bytes(request),
        snapshot={"references": [], "remaining_minor": amount_minor, "gone": [], "facts": {}},
        separate=separate,
    )


async def authorize(
    ledger: Ledger,
    *operations: NewOperation,
    key: str | None = None,
    body: object = None,
    valid: timedelta = timedelta(hours=1),
    resend: timedelta = timedelta(hours=23),
    owner: UUID | None = None,
    until: datetime | None = None,
) -> Authorized:
    """Authorize items as one batch."""
    now = await ledger.now()
    items: Sequence[NewOperation] = operations or (new_operation(),)
    return await ledger.authorize(
        NewAuthorization(
            proposal_id=new_id(),
            authorization_id=new_id(),
            type="stripe.refund",
            type_version=1,
            requested_by="tests",
            request_key=key or str(uuid4()),
            input_digest=digest(body),
            decided_by="person:amaia",
            reason="test",
            authorized_until=until or now + valid,
            resend_until=now + resend,
            operations=items,
            owner=owner,
            lease_s=LEASE_S,
        )
    )


async def authorized(ledger: Ledger, *operations: NewOperation) -> list[Operation]:
    """Authorize items and read the operations, in their order."""
    made = await authorize(ledger, *operations)
    return [await ledger.operation(operation_id) for operation_id in made.operation_ids]


def sending(operation: Operation, by: Worker, *, digest_: str | None = None) -> Sending:
    """A request to the gate for an operation as it was read."""
    return Sending(
        operation=operation,
        owner=by.incarnation,
        process=by.name,
        credential="cred-1",
        digest=digest_ or digest_of_bytes(operation.request),
        budget_s=BUDGET_S,
        lease_s=LEASE_S,
        settle_s=SETTLE_S,
    )

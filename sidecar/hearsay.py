"""What a provider tells unasked: kept once, and a reason to look. It never writes a state."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from dispatcher.providers.stripe.webhooks import StripeEvent
from ledger.postgres.events import event as history_event
from ledger.postgres.ledger import Ledger
from ledger.postgres.statements import sql

_PROVIDER: Final = "stripe"


@dataclass(frozen=True, slots=True)
class Heard:
    """What became of an event."""

    repeated: bool
    operation_id: UUID | None
    """The operation that will be looked at, if it concerns one."""


async def hear(ledger: Ledger, event: StripeEvent) -> Heard:
    """Keep an event and wake its operation up, in one commit; the same event again does nothing."""
    ours = event.ledger_id == ledger.identity.ledger_id
    async with ledger.pool.connection() as connection, connection.transaction():
        cursor = await connection.execute(
            sql("webhook_operation"),
            {
                "provider": _PROVIDER,
                "marked": event.operation_id if ours else None,
                "reference": event.object_id,
                "key": event.idempotency_key,
            },
        )
        found = await cursor.fetchone()
        operation_id: UUID | None = None if found is None else found["id"]
        cursor = await connection.execute(
            sql("webhook_store"),
            {
                "provider": _PROVIDER,
                "event_id": event.id,
                "type": event.type,
                "object_id": event.object_id,
                "operation_id": operation_id,
            },
        )
        if await cursor.fetchone() is None:
            return Heard(repeated=True, operation_id=operation_id)
        if operation_id is not None:
            given = history_event(f"provider:{_PROVIDER}", {"event": event.id, "type": event.type})
            salt = bytes.fromhex(given.pop("salt_hex"))
            await connection.execute(
                sql("wake"),
                {"id": operation_id, "kind": "webhook", "expected": None, "salt": salt, **given},
            )
    return Heard(repeated=False, operation_id=operation_id)

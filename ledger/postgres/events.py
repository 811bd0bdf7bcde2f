"""The parts of an event that its writer gives: an id of its own, who, and what, with a salt."""

import secrets
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from ledger.canonical import canonical
from ledger.ids import new_event_id
from ledger.model import Json
from ledger.postgres.connect import Connection
from ledger.postgres.statements import sql

_SALT_BYTES = 16


def event(actor: str, told: Mapping[str, Json]) -> dict[str, Any]:
    """The event columns of one row of a set-based statement."""
    return {
        "event_id": str(new_event_id()),
        "actor": actor,
        "payload": canonical(dict(told)).decode(),
        "salt_hex": secrets.token_hex(_SALT_BYTES),
    }


async def find_event(
    connection: Connection, operation_id: UUID, event_id: str
) -> dict[str, Any] | None:
    """Under the operation's lock: the event with this id, if its commit stands."""
    async with connection.transaction():
        await connection.execute(sql("lock_operation"), {"id": operation_id})
        cursor = await connection.execute(
            sql("find_event"), {"id": operation_id, "event_id": event_id}
        )
        return await cursor.fetchone()

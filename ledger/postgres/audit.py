"""`outlive audit verify`: recompute every operation's history and every signed checkpoint.

What an audit can find is an edit behind the triggers: a changed, removed or cut-off event, a
removed operation, a request that is not the authorized one, a removed or changed checkpoint. A
change that was made with its whole chain computed anew shows against the checkpoints, so what
came after the last of them is chained, not proven. It says nothing about columns that are only
derived from the history (state, references), nor about attempts and decision records.

The ledger may be in use meanwhile: operations are read in key order, a few hundred a
transaction, each from one snapshot; no snapshot is held for long, and little memory is needed.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from ledger.postgres.audit_checkpoints import follow_checkpoints
from ledger.postgres.audit_history import Head, History
from ledger.postgres.audit_report import Report, Tally
from ledger.postgres.connect import Connection, Pool
from ledger.postgres.ledger import Ledger
from ledger.postgres.signing import key_id
from ledger.postgres.statements import sql

CHUNK: Final = 500
"""Operations a transaction."""

BEFORE_ALL: Final = UUID(int=0)
_AFTER_ALL: Final = UUID(int=2**128 - 1)
_FETCHED: Final = 1_000


async def verify(
    ledger: Ledger,
    keys: Iterable[Ed25519PublicKey],
    *,
    anchor: Path | None = None,
    chunk: int = CHUNK,
) -> Report:
    """Audit the whole ledger.

    Args:
        ledger: Which one.
        keys: Public keys that checkpoints may be signed with, older ones included. A checkpoint
            signed with another key is a finding.
        anchor: A file outside PostgreSQL that the checkpoints must agree with.
        chunk: Operations a transaction.

    Raises:
        DatabaseUnreachable: The audit did not end; nothing can be said.
        UnusableAnchor: The anchor can't be read.
    """
    tally = Tally()
    after: UUID | None = BEFORE_ALL
    while after is not None:
        after = await follow_chunk(ledger.pool, after, chunk, tally)
    await follow_checkpoints(ledger.pool, {key_id(key): key for key in keys}, anchor, tally)
    return tally.report()


async def follow_chunk(pool: Pool, after: UUID, chunk: int, tally: Tally) -> UUID | None:
    """Follow the next operations; returns the last one's id, or `None` at the end."""
    async with pool.connection() as connection, connection.transaction():
        await connection.execute(sql("audit_begin"))
        cursor = await connection.execute(sql("audit_operations"), {"after": after, "count": chunk})
        heads = [Head.of(row) for row in await cursor.fetchall()]
        whole_chunk = len(heads) == chunk
        upto = heads[-1].operation_id if whole_chunk else _AFTER_ALL
        await _follow_histories(connection, heads, after, upto, tally)
    return upto if whole_chunk else None


async def _follow_histories(
    connection: Connection, heads: Sequence[Head], after: UUID, upto: UUID, tally: Tally
) -> None:
    """Walk operations and events side by side: either may lack what the other has."""
    tally.operations += len(heads)
    expected = {head.operation_id: head for head in heads}
    history: History | None = None
    async with connection.cursor(name="audit_events") as cursor:
        cursor.itersize = _FETCHED
        await cursor.execute(sql("audit_events"), {"after": after, "upto": upto})
        async for row in cursor:
            operation_id = row["operation_id"]
            if history is None or history.operation_id != operation_id:
                if history is not None:
                    history.end()
                history = History(operation_id, expected.pop(operation_id, None), tally)
            history.follow(row)
    if history is not None:
        history.end()
    for operation_id, head in expected.items():
        History(operation_id, head, tally).end()

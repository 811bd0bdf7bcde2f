"""Signed checkpoints: from time to time, the heads of all operations that changed.

A chain alone proves nothing against somebody who edits behind the triggers and computes it anew.
A signature they cannot compute; so a checkpoint fixes what was committed when it was written.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from ledger.chain import Statement, entry_bytes
from ledger.postgres.anchor import anchor as write_anchor
from ledger.postgres.connect import Connection
from ledger.postgres.ledger import Ledger
from ledger.postgres.signing import Signer
from ledger.postgres.statements import sql


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint as it stands in the database."""

    statement: Statement
    signature: bytes


async def write_checkpoint(
    ledger: Ledger, signer: Signer, *, anchor: Path | None = None
) -> Checkpoint | None:
    """Sign what changed since the last checkpoint; `None` where nothing did.

    Workers may do it at the same time: they take turns, and the later one finds nothing left.

    Args:
        ledger: Whose operations.
        signer: The key, from a file outside the database.
        anchor: A file that gets a line for each checkpoint, once it is committed.

    Raises:
        DatabaseUnreachable: Nothing was written, or it was and its answer was lost; the next
            call goes on from what stands.
        UnusableAnchor: The checkpoint stands, the file does not have it yet; the next call
            that can write the file catches up.
    """
    async with ledger.pool.connection() as connection, connection.transaction():
        written = await _write(connection, signer)
    if anchor is not None:
        await write_anchor(ledger, anchor)
    return written


async def _write(connection: Connection, signer: Signer) -> Checkpoint | None:
    await connection.execute(sql("checkpoint_lock"))
    cursor = await connection.execute(sql("checkpoint_last"))
    last = await cursor.fetchone()
    assert last is not None  # noqa: S101  the identity has one row
    number: int = last["number"]
    cursor = await connection.execute(
        sql("checkpoint_enter"), {"number": number, "seen": last["seen"]}
    )
    entered = await cursor.fetchone()
    assert entered is not None  # noqa: S101  an aggregate has one row
    if not entered["operations"]:
        return None
    statement = Statement(
        ledger_id=last["ledger_id"],
        number=number,
        at=last["at"],
        epoch=last["epoch"],
        operations=entered["operations"],
        snapshot=entered["snapshot"],
        root=await _root(connection, number, bytes(last["previous_root"])),
        key_id=signer.key_id,
    )
    signature = signer.key.sign(statement.signed_bytes())
    await connection.execute(
        sql("checkpoint_sign"),
        {
            "number": number,
            "at": statement.at,
            "epoch": statement.epoch,
            "operations": statement.operations,
            "snapshot": statement.snapshot,
            "root": statement.root,
            "key_id": statement.key_id,
            "signature": signature,
        },
    )
    return Checkpoint(statement, signature)


async def _root(connection: Connection, number: int, previous: bytes) -> bytes:
    """Hash the entries as they were stored, without holding them all."""
    root = hashlib.sha256(previous)
    async with connection.cursor(name="checkpoint") as cursor:
        await cursor.execute(sql("checkpoint_entries"), {"number": number})
        async for row in cursor:
            root.update(entry_bytes(row["operation_id"], row["seq"], bytes(row["hash"])))
    return root.digest()

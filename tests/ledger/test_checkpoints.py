"""Checkpoints: what they enter, who may write them, until when they prove something."""

import asyncio

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ledger.model import Operation
from ledger.postgres.audit import verify
from ledger.postgres.audit_report import Fault
from ledger.postgres.checkpoint import write_checkpoint
from ledger.postgres.ledger import Ledger
from ledger.postgres.signing import (
    Signer,
)
from tests.support.ledgers import authorized, ledger_at, new_operation


@pytest.fixture
def signer() -> Signer:
    """A new key."""
    return Signer(Ed25519PrivateKey.generate())


async def entries(ledger: Ledger) -> list[tuple[int, int]]:
    """Checkpoint number and event number of every entry."""
    async with ledger.pool.connection() as connection:
        cursor = await connection.execute(
            "SELECT number, seq FROM checkpoint_entries ORDER BY number, seq"
        )
        return [(row["number"], row["seq"]) for row in await cursor.fetchall()]


async def wake(ledger: Ledger, operation: Operation) -> None:
    """Give an operation another event."""
    await ledger.wake(operation.id, actor="tests", kind="noted", told={})


async def test_a_checkpoint_enters_what_changed_since_the_last(
    ledger: Ledger, signer: Signer
) -> None:
    """Each head is entered once, and again only after it moved."""
    first, _ = await authorized(ledger, new_operation("ch_1"), new_operation("ch_2"))
    written = await write_checkpoint(ledger, signer)
    assert written is not None
    assert (written.statement.number, written.statement.operations) == (1, 2)
    await wake(ledger, first)
    await wake(ledger, first)
    written = await write_checkpoint(ledger, signer)
    assert written is not None
    assert (written.statement.number, written.statement.operations) == (2, 1)
    assert await entries(ledger) == [(1, 1), (1, 1), (2, 3)]


async def test_where_nothing_changed_nothing_is_written(ledger: Ledger, signer: Signer) -> None:
    """An idle ledger does not grow."""
    assert await write_checkpoint(ledger, signer) is None
    await authorized(ledger)
    assert await write_checkpoint(ledger, signer) is not None
    assert await write_checkpoint(ledger, signer) is None


async def test_two_workers_write_one_checkpoint(ledger: Ledger, signer: Signer) -> None:
    """They take turns; the second finds nothing left, or the numbers have no gap."""
    await authorized(ledger)
    async with ledger_at(ledger.database.dsn) as other:
        written = await asyncio.gather(
            write_checkpoint(ledger, signer), write_checkpoint(other, signer)
        )
    assert [one.statement.number for one in written if one is not None] == [1]


async def test_a_transaction_that_commits_late_is_entered_by_the_next_checkpoint(
    ledger: Ledger, signer: Signer
) -> None:
    """Its number is older than the checkpoint, its commit is not: it must not be lost."""
    [slow] = await authorized(ledger, new_operation("ch_1"))
    assert await write_checkpoint(ledger, signer) is not None
    async with await ledger.database.open() as connection, connection.transaction():
        await connection.execute(
            "UPDATE operations SET last_event_seq = 2 WHERE id = %s", [slow.id]
        )
        await connection.execute(
            "INSERT INTO events SELECT operation_id, 2, id, kind, actor, at, payload_digest, hash "
            "FROM events WHERE operation_id = %s",
            [slow.id],
        )
        await authorized(ledger, new_operation("ch_2"))
        during = await write_checkpoint(ledger, signer)
        assert during is not None
        assert during.statement.operations == 1
    after = await write_checkpoint(ledger, signer)
    assert after is not None
    assert after.statement.operations == 1
    assert await write_checkpoint(ledger, signer) is None


async def test_a_long_transaction_makes_no_checkpoint_longer(
    ledger: Ledger, signer: Signer
) -> None:
    """While one is open, what was entered already is not entered again."""
    async with await ledger.database.open() as connection, connection.transaction():
        await connection.execute("SELECT pg_current_xact_id()")
        await authorized(ledger)
        assert await write_checkpoint(ledger, signer) is not None
        assert await write_checkpoint(ledger, signer) is None


async def test_after_a_restored_backup_everything_is_entered_again(
    ledger: Ledger, signer: Signer
) -> None:
    """Transaction numbers of another epoch say nothing about this one."""
    await authorized(ledger, new_operation("ch_1"))
    await write_checkpoint(ledger, signer)
    async with ledger.pool.connection() as connection:
        await connection.execute("UPDATE ledger_identity SET epoch = 2")
    again = await write_checkpoint(ledger, signer)
    assert again is not None
    assert (again.statement.epoch, again.statement.operations) == (2, 1)
    assert (await verify(ledger, [signer.public_key])).whole


async def test_a_checkpoint_covers_what_was_committed_by_its_time(
    ledger: Ledger, signer: Signer
) -> None:
    """Its time is read before its snapshot, never after."""
    before = await ledger.now()
    await authorized(ledger)
    written = await write_checkpoint(ledger, signer)
    assert written is not None
    assert before < written.statement.at <= await ledger.now()
    assert (await verify(ledger, [signer.public_key])).whole_until == written.statement.at


async def test_keys_can_change(ledger: Ledger, signer: Signer) -> None:
    """An auditor who has both public keys finds all checkpoints signed."""
    newer = Signer(Ed25519PrivateKey.generate())
    await authorized(ledger, new_operation("ch_1"))
    await write_checkpoint(ledger, signer)
    await authorized(ledger, new_operation("ch_2"))
    await write_checkpoint(ledger, newer)
    assert (await verify(ledger, [signer.public_key, newer.public_key])).whole
    [finding] = (await verify(ledger, [newer.public_key])).findings
    assert (finding.fault, finding.checkpoint) == (Fault.KEY_UNKNOWN, 1)

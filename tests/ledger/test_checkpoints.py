"""Checkpoints: what they enter, who may write them, what the anchor and the key file hold."""

import asyncio
import base64
import json
from pathlib import Path

import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from ledger.model import Operation
from ledger.postgres.anchor import UnusableAnchor, anchor, read_anchor
from ledger.postgres.audit import verify
from ledger.postgres.audit_report import Fault
from ledger.postgres.checkpoint import write_checkpoint
from ledger.postgres.ledger import Ledger
from ledger.postgres.signing import (
    Signer,
    UnusableKey,
    load_public_key,
    load_signer,
    signature_holds,
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


async def test_a_line_of_the_anchor_can_be_checked_by_itself(
    ledger: Ledger, signer: Signer, tmp_path: Path
) -> None:
    """The signature is over the line's own words: no database is needed."""
    await authorized(ledger)
    path = tmp_path / "anchor.jsonl"
    written = await write_checkpoint(ledger, signer, anchor=path)
    assert written is not None
    line = json.loads(path.read_text())
    signature = bytes.fromhex(line.pop("signature"))
    assert line == written.statement.as_json()
    signed = (
        b"outlive checkpoint 1\n" + json.dumps(line, sort_keys=True, separators=(",", ":")).encode()
    )
    assert signature_holds(signer.public_key, signature, signed)


async def test_the_anchor_catches_up(ledger: Ledger, signer: Signer, tmp_path: Path) -> None:
    """Checkpoints that were written without it, or cut in the middle of a line, come again."""
    path = tmp_path / "anchor.jsonl"
    for number in range(3):
        await authorized(ledger, new_operation(f"ch_{number}"))
        await write_checkpoint(ledger, signer)
    assert await anchor(ledger, path) == 3
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert await anchor(ledger, path) == 1
    assert [one.number for one in read_anchor(path)] == [1, 2, 3]
    report = await verify(ledger, [signer.public_key], anchor=path)
    assert (report.whole, report.anchored) == (True, 3)
    assert await anchor(ledger, path) == 0


async def test_an_anchor_that_is_behind_is_no_finding(
    ledger: Ledger, signer: Signer, tmp_path: Path
) -> None:
    """It may have been unreachable for a while; a hole in it is another matter."""
    path = tmp_path / "anchor.jsonl"
    for number in range(3):
        await authorized(ledger, new_operation(f"ch_{number}"))
        await write_checkpoint(ledger, signer, anchor=path)
    first, second, third = path.read_text().splitlines(keepends=True)
    path.write_text(first + second)
    assert (await verify(ledger, [signer.public_key], anchor=path)).whole
    path.write_text(first + third)
    [finding] = (await verify(ledger, [signer.public_key], anchor=path)).findings
    assert (finding.fault, finding.checkpoint) == (Fault.ANCHOR_DIFFERS, 2)


async def test_an_anchor_that_can_not_be_written_leaves_the_checkpoint(
    ledger: Ledger, signer: Signer, tmp_path: Path
) -> None:
    """The error says so; the next call catches up."""
    await authorized(ledger)
    missing = tmp_path / "unmounted" / "anchor.jsonl"
    with pytest.raises(UnusableAnchor, match="checkpoints themselves stand"):
        await write_checkpoint(ledger, signer, anchor=missing)
    assert (await verify(ledger, [signer.public_key])).checkpoints == 1
    missing.parent.mkdir()
    assert await write_checkpoint(ledger, signer, anchor=missing) is None
    assert [one.number for one in read_anchor(missing)] == [1]


async def test_an_anchor_that_is_not_there_is_an_error_of_the_audit(
    ledger: Ledger, tmp_path: Path
) -> None:
    """Comparing with nothing would find nothing."""
    with pytest.raises(UnusableAnchor):
        await verify(ledger, [], anchor=tmp_path / "anchor.jsonl")


async def test_a_restored_backup_shows_against_the_anchor(
    ledger: Ledger, signer: Signer, tmp_path: Path
) -> None:
    """What was signed after the backup is gone, and the anchor goes on in the new epoch."""
    path = tmp_path / "anchor.jsonl"
    for number in range(2):
        await authorized(ledger, new_operation(f"ch_{number}"))
        await write_checkpoint(ledger, signer, anchor=path)
    with psycopg.connect(ledger.database.dsn) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute("DELETE FROM checkpoints WHERE number = 2")
        connection.execute("DELETE FROM checkpoint_entries WHERE number = 2")
        connection.execute("UPDATE ledger_identity SET epoch = 2")
    await write_checkpoint(ledger, signer, anchor=path)
    assert [(one.epoch, one.number) for one in read_anchor(path)] == [(1, 1), (1, 2), (2, 2)]
    [finding] = (await verify(ledger, [signer.public_key], anchor=path)).findings
    assert (finding.fault, finding.checkpoint) == (Fault.CHECKPOINT_MISSING, 2)
    assert "begin a new anchor" in finding.words


def test_a_new_key_is_its_owners_alone(tmp_path: Path) -> None:
    """It is made once, with mode 0600, and read again afterwards."""
    path = tmp_path / "checkpoint.pem"
    made = load_signer(path, create=True)
    assert path.stat().st_mode & 0o777 == 0o600
    assert load_signer(path, create=True).key_id == load_signer(path).key_id == made.key_id
    assert [file.name for file in tmp_path.iterdir()] == ["checkpoint.pem"]


def test_a_key_may_be_32_bytes_in_base64(tmp_path: Path) -> None:
    """As a secret store would hand it over."""
    key = Ed25519PrivateKey.generate()
    path = tmp_path / "key"
    path.write_bytes(base64.b64encode(key.private_bytes_raw()) + b"\n")
    assert load_signer(path).key_id == Signer(key).key_id


def test_a_public_key_is_enough_to_audit(tmp_path: Path, signer: Signer) -> None:
    """The auditor never holds the signing key."""
    path = tmp_path / "checkpoint.pub"
    path.write_text(signer.public_pem())
    assert load_public_key(path) == signer.public_key


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not base64!",
        base64.b64encode(b"too short"),
        b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        X25519PrivateKey.generate().private_bytes(
            Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
        ),
    ],
    ids=["empty", "no base64", "short", "no key", "another kind"],
)
def test_what_is_no_key_is_refused(tmp_path: Path, content: bytes) -> None:
    """The error names the file and what it should hold."""
    path = tmp_path / "key"
    path.write_bytes(content)
    with pytest.raises(UnusableKey, match="Ed25519"):
        load_signer(path)
    with pytest.raises(UnusableKey, match="Ed25519"):
        load_public_key(path)


def test_a_missing_key_is_not_made_unasked(tmp_path: Path) -> None:
    """A wrong path must not become a second key."""
    with pytest.raises(UnusableKey, match="No such file"):
        load_signer(tmp_path / "key")
    assert list(tmp_path.iterdir()) == []

"""The anchor: a copy of what was signed, outside PostgreSQL, that catches up by itself."""

import json
from pathlib import Path

import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ledger.postgres.anchor import UnusableAnchor, anchor, read_anchor
from ledger.postgres.audit import verify
from ledger.postgres.audit_report import Fault
from ledger.postgres.checkpoint import write_checkpoint
from ledger.postgres.ledger import Ledger
from ledger.postgres.signing import (
    Signer,
    signature_holds,
)
from tests.support.ledgers import authorized, new_operation


@pytest.fixture
def signer() -> Signer:
    """A new key."""
    return Signer(Ed25519PrivateKey.generate())


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

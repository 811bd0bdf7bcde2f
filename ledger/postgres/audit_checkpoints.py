"""The part of an audit that follows the signed checkpoints, and compares them with an anchor."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from ledger.chain import FIRST_ROOT, entry_bytes
from ledger.postgres.anchor import Anchored, read_anchor, statement_of
from ledger.postgres.audit_report import Fault, Tally
from ledger.postgres.connect import Pool
from ledger.postgres.signing import signature_holds
from ledger.postgres.statements import sql

Row = Mapping[str, Any]

_ROWS: Final = 500


async def follow_checkpoints(
    pool: Pool, keys: Mapping[str, Ed25519PublicKey], anchor: Path | None, tally: Tally
) -> None:
    """Check every checkpoint with its entries, then compare with the anchor."""
    copies = Copies(anchor)
    number = 0
    root: bytes | None = FIRST_ROOT
    while rows := await pool.rows("checkpoint_read", number=number, count=_ROWS):
        for row in rows:
            if row["number"] != number + 1:
                _note_missing(tally, number + 1, row["number"] - 1)
                root = None
            tally.checkpoints += 1
            entries_hold = await _entries_hold(pool, row, root, tally)
            signed = _check_signature(row, keys, tally)
            if entries_hold and signed:
                tally.whole_until = row["at"]
            copies.compare(row, tally)
            number, root = row["number"], bytes(row["root"])
    left = await pool.row("audit_orphans")
    if left is not None and left["number"] > number:
        _note_missing(tally, number + 1, left["number"])
    copies.end(tally)


async def _entries_hold(pool: Pool, row: Row, previous: bytes | None, tally: Tally) -> bool:
    """Recompute a root from its entries; each entry's event must still be what it was.

    Where the root does not hold, its entries prove nothing against the events.
    """
    root = hashlib.sha256(previous or b"")
    entries = 0
    against = Tally()
    async with (
        pool.connection() as connection,
        connection.transaction(),
        connection.cursor(name="audit_entries") as cursor,
    ):
        await cursor.execute(sql("audit_entries"), {"number": row["number"]})
        async for entry in cursor:
            entries += 1
            root.update(entry_bytes(entry["operation_id"], entry["seq"], bytes(entry["hash"])))
            _check_entry(entry, row["number"], against)
    tally.entries += entries
    if entries != row["operations"] or (
        previous is not None and root.digest() != bytes(row["root"])
    ):
        tally.note(
            Fault.CHECKPOINT_CHANGED,
            f"checkpoint {row['number']} is not over the entries that it was signed over",
            checkpoint=row["number"],
        )
        return False
    tally.add(against)
    return True


def _check_entry(entry: Row, number: int, tally: Tally) -> None:
    operation_id, seq = entry["operation_id"], entry["seq"]
    if not entry["operation_stands"]:
        tally.note(
            Fault.OPERATION_MISSING,
            f"the operation is gone; checkpoint {number} saw its event {seq}",
            operation_id=operation_id,
            seq=seq,
            checkpoint=number,
        )
    elif entry["event_hash"] is None:
        tally.note(
            Fault.TAIL_CUT,
            f"event {seq} is gone; checkpoint {number} saw it",
            operation_id=operation_id,
            seq=seq,
            checkpoint=number,
        )
    elif bytes(entry["event_hash"]) != bytes(entry["hash"]):
        tally.note(
            Fault.HISTORY_REWRITTEN,
            f"the history up to event {seq} is not the one that checkpoint {number} saw",
            operation_id=operation_id,
            seq=seq,
            checkpoint=number,
        )


def _check_signature(row: Row, keys: Mapping[str, Ed25519PublicKey], tally: Tally) -> bool:
    number = row["number"]
    key = keys.get(row["key_id"])
    if key is None:
        tally.note(
            Fault.KEY_UNKNOWN,
            f"checkpoint {number} is signed with key {row['key_id']}, which was not given",
            checkpoint=number,
        )
        return False
    if not signature_holds(key, bytes(row["signature"]), statement_of(row).signed_bytes()):
        tally.note(
            Fault.SIGNATURE_WRONG,
            f"checkpoint {number} is not what key {row['key_id']} signed",
            checkpoint=number,
        )
        return False
    return True


def _note_missing(tally: Tally, first: int, last: int) -> None:
    told = f"checkpoint {first} is" if first == last else f"checkpoints {first} to {last} are"
    tally.note(Fault.CHECKPOINT_MISSING, f"{told} gone", checkpoint=first)


class Copies:
    """The anchored copies that have not been met in the ledger yet."""

    def __init__(self, path: Path | None) -> None:
        self._left: dict[tuple[int, int], Anchored] = {}
        for copy in () if path is None else read_anchor(path):
            self._left.setdefault((copy.epoch, copy.number), copy)
        self._last = max(self._left, default=(0, 0))

    def compare(self, row: Row, tally: Tally) -> None:
        """Meet a checkpoint; those behind the last anchored one may not have come there yet."""
        number = row["number"]
        copy = self._left.pop((row["epoch"], number), None)
        if copy is None:
            if (row["epoch"], number) <= self._last:
                words = f"checkpoint {number} is not in the anchor, though later ones are"
                tally.note(Fault.ANCHOR_DIFFERS, words, checkpoint=number)
            return
        tally.anchored += 1
        if (copy.ledger_id, copy.root, copy.signature) != (
            str(row["ledger_id"]),
            bytes(row["root"]).hex(),
            bytes(row["signature"]).hex(),
        ):
            tally.note(
                Fault.ANCHOR_DIFFERS,
                f"checkpoint {number} is another one in the anchor",
                checkpoint=number,
            )

    def end(self, tally: Tally) -> None:
        """Note what only the anchor knows."""
        for epoch, number in sorted(self._left):
            tally.note(
                Fault.CHECKPOINT_MISSING,
                f"checkpoint {number} of epoch {epoch} is gone; the anchor has it (an older "
                "backup looks the same: begin a new anchor after restoring one)",
                checkpoint=number,
            )

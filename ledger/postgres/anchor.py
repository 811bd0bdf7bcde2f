"""The anchor: signed checkpoints, one a line of JSON, in a file outside PostgreSQL.

Whoever can edit the database and also has the signing key could write a new past; not if a copy
of each checkpoint's statement stands somewhere else. A line that was cut by a crash is no loss:
the next writing puts the checkpoint on a line of its own again.
"""

import asyncio
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ledger.chain import Statement
from ledger.errors import OutliveError
from ledger.postgres.ledger import Ledger

_ROWS: Final = 1_000
_TAIL_BYTES: Final = 1 << 20


class UnusableAnchor(OutliveError):
    """The anchor can't be read or written. Checkpoints in the database are not affected."""

    code = "unusable_anchor"

    def __init__(self, path: Path, error: OSError) -> None:
        super().__init__(f"anchor {path}: {error.strerror}; the checkpoints themselves stand")


@dataclass(frozen=True, slots=True)
class Anchored:
    """One line: a checkpoint's statement as it was signed."""

    ledger_id: str
    epoch: int
    number: int
    root: str
    signature: str


def statement_of(row: Mapping[str, Any]) -> Statement:
    """What a stored checkpoint's signature covers."""
    return Statement(
        ledger_id=row["ledger_id"],
        number=row["number"],
        at=row["at"],
        epoch=row["epoch"],
        operations=row["operations"],
        snapshot=row["snapshot"],
        root=bytes(row["root"]),
        key_id=row["key_id"],
    )


async def anchor(ledger: Ledger, path: Path) -> int:
    """Append the checkpoints that the file lacks; returns how many.

    Raises:
        UnusableAnchor: The file can't be read or written.
    """
    written = 0
    while True:
        epoch, number = await asyncio.to_thread(last_anchored, path)
        rows = await ledger.pool.rows(
            "checkpoint_unanchored", epoch=epoch, number=number, count=_ROWS
        )
        if not rows:
            return written
        lines = [
            json.dumps({**statement_of(row).as_json(), "signature": bytes(row["signature"]).hex()})
            for row in rows
        ]
        await asyncio.to_thread(_append, path, lines)
        written += len(rows)


def read_anchor(path: Path) -> Iterator[Anchored]:
    """The checkpoints in the file, in its order; lines that are no checkpoint are passed over.

    Raises:
        UnusableAnchor: The file can't be read.
    """
    try:
        with path.open("rb") as file:
            for line in file:
                known = _parsed(line)
                if known is not None:
                    yield known
    except OSError as error:
        raise UnusableAnchor(path, error) from error


def _parsed(line: bytes) -> Anchored | None:
    try:
        found = json.loads(line)
        return Anchored(
            ledger_id=str(found["ledger_id"]),
            epoch=int(found["epoch"]),
            number=int(found["number"]),
            root=str(found["root"]),
            signature=str(found["signature"]),
        )
    except (ValueError, KeyError, TypeError):
        return None


def last_anchored(path: Path) -> tuple[int, int]:
    """Epoch and number of the last whole line; lines are short, so the file's end suffices.

    Raises:
        UnusableAnchor: The file can't be read.
    """
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            lines = file.read().splitlines()
    except FileNotFoundError:
        return 0, 0
    except OSError as error:
        raise UnusableAnchor(path, error) from error
    known = [anchored for line in lines if (anchored := _parsed(line)) is not None]
    return max(((one.epoch, one.number) for one in known), default=(0, 0))


def _append(path: Path, lines: list[str]) -> None:
    """Append whole lines and have them on the disk; two writers take turns."""
    try:
        with path.open("ab+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if (size := file.seek(0, os.SEEK_END)) > 0:
                file.seek(size - 1)
                if file.read(1) != b"\n":
                    file.write(b"\n")
            file.write("".join(f"{line}\n" for line in lines).encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise UnusableAnchor(path, error) from error

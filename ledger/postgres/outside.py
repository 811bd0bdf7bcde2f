"""What is known of the ledger outside its database: which one it is, and how far it had come.

A database can be put back to an older copy of itself and would not know. So each process writes
the ledger's id, its epoch and the number of a transaction that is on the disk into a file, from
time to time. A database that has not come as far is an older one, or another one.
"""

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ledger.errors import OutliveError
from ledger.postgres.anchor import Anchored


class UnusableMark(OutliveError):
    """The file can't be read or written; says what to do."""

    code = "unusable_mark"


@dataclass(frozen=True, slots=True)
class Mark:
    """The ledger as it was when somebody last looked."""

    ledger_id: str
    epoch: int
    transaction: int
    """Its commit was on the disk: every later one has a greater number (PostgreSQL's xid8)."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How far the database has come."""

    ledger_id: str
    epoch: int
    next_transaction: int
    checkpoint: int
    """Number of its last signed checkpoint."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Standing":
        """From the statement `standing`."""
        return cls(str(row["ledger_id"]), row["epoch"], row["next_transaction"], row["checkpoint"])


def why_behind(standing: Standing, mark: Mark | None, anchored: Anchored | None) -> str | None:
    """Why the database must be an older copy, or another one; `None` where nothing says so. Pure.

    Args:
        standing: The database.
        mark: What the file says.
        anchored: The last checkpoint that was copied out of this very ledger.
    """
    if mark is not None:
        if mark.ledger_id != standing.ledger_id:
            return f"the file knows ledger {mark.ledger_id}, the database is {standing.ledger_id}"
        if mark.epoch > standing.epoch:
            return f"the file knows epoch {mark.epoch}, the database is at {standing.epoch}"
        if mark.epoch == standing.epoch and mark.transaction >= standing.next_transaction:
            return (
                f"the file knows transaction {mark.transaction}, the database has not got beyond "
                f"{standing.next_transaction - 1}"
            )
    if anchored is not None and anchored.ledger_id == standing.ledger_id:
        known = (anchored.epoch, anchored.number)
        if known > (standing.epoch, standing.checkpoint):
            return (
                f"the anchor knows checkpoint {anchored.number} of epoch {anchored.epoch}, the "
                f"database only {standing.checkpoint} of {standing.epoch}"
            )
    return None


def read_mark(path: Path) -> Mark | None:
    """What the file says; `None` where there is none yet.

    Raises:
        UnusableMark: It can't be read.
    """
    try:
        found = json.loads(path.read_bytes())
        return Mark(str(found["ledger_id"]), int(found["epoch"]), int(found["transaction"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnusableMark(
            f"{path} can't be read ({type(error).__name__}). If nobody restored the database, "
            "delete the file; else run `outlive restored` first."
        ) from error


def write_mark(path: Path, mark: Mark) -> None:
    """Put the file in place as a whole; it is on the disk on return.

    Raises:
        UnusableMark: It can't be written.
    """
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("w", encoding="utf-8") as file:
            json.dump(asdict(mark), file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise UnusableMark(f"{path} can't be written: {error.strerror}") from error

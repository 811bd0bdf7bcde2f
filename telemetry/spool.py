"""Records that survive a SIGKILL: one line each, on its way to the disk before the call returns.

A process writes into a file of its own, whose lock it holds; the kernel lets go of the lock at
its death, so that any other process of the state folder can ship what it left. The page cache
survives the process, though not the machine: the attempt's row in PostgreSQL survives that.

Never raises into a dispatch: a full disk costs the record, and is counted.
"""

import fcntl
import json
import logging
import os
import threading
from collections.abc import Mapping
from io import FileIO
from pathlib import Path
from typing import Any, Final, TypeGuard

FILE_MAX_BYTES: Final = 1_000_000
"""A file that has grown past this is closed, and is ready to be shipped."""
TOTAL_MAX_BYTES: Final = 64_000_000
"""Older files go first where a back end stays away too long."""

_OPEN: Final = ".open.jsonl"
_READY: Final = ".ready.jsonl"
_log = logging.getLogger(__name__)

Record = dict[str, Any]


class Spool:
    """A folder of records that wait to be shipped."""

    def __init__(
        self, folder: Path, *, file_bytes: int = FILE_MAX_BYTES, total_bytes: int = TOTAL_MAX_BYTES
    ) -> None:
        self.folder = folder
        self.lost = 0
        """Records that could not be kept, and those in files that had to go."""
        self._file_bytes = file_bytes
        self._total_bytes = total_bytes
        self._file: FileIO | None = None
        self._written = 0
        self._turn = 0
        self._lock = threading.Lock()

    def append(self, record: Mapping[str, Any]) -> None:
        """Keep a record. Never raises."""
        try:
            line = json.dumps(record, separators=(",", ":"), default=str).encode() + b"\n"
            with self._lock:
                self._write(line)
        except (OSError, ValueError, TypeError) as error:
            self.lost += 1
            if self.lost == 1:
                _log.warning("the spool in %s can't be written: %s", self.folder, error)

    def _write(self, line: bytes) -> None:
        if self._file is None:
            self._file = self._new_file()
            self._written = 0
        # One write: a killed process leaves the whole line or, on a full disk, a broken last one.
        self._file.write(line)
        self._written += len(line)
        if self._written >= self._file_bytes:
            self._close()
            self._make_room()

    def _new_file(self) -> FileIO:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._turn += 1
        draft = self.folder / f"{os.getpid()}-{os.urandom(4).hex()}-{self._turn:06}"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        file = FileIO(os.open(draft, flags, 0o600), "a")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Named only once it is locked: nobody may take it for the file of a dead process.
        draft.rename(draft.with_name(draft.name + _OPEN))
        return file

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _make_room(self) -> None:
        """Drop the oldest files over the limit; what was lost is counted."""
        files = sorted(self._waiting(), key=lambda path: path.stat().st_mtime)
        total = sum(path.stat().st_size for path in files)
        for path in files:
            if total <= self._total_bytes:
                return
            total -= path.stat().st_size
            self.lost += len(read(path))
            path.unlink(missing_ok=True)
            _log.warning("the spool is full; %s went unshipped", path.name)

    def ready(self) -> list[Path]:
        """The files to ship: our own, closed now, and those of processes that are gone."""
        with self._lock:
            self._close()
        return sorted(path for path in self._waiting() if path.name.endswith(_READY))

    def _waiting(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        for path in self.folder.glob(f"*{_OPEN}"):
            _take(path)
        return list(self.folder.glob(f"*{_READY}"))

    def close(self) -> None:
        """Leave what is not shipped to the next process."""
        with self._lock:
            self._close()


def _take(path: Path) -> None:
    """Claim a file whose writer is gone."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.rename(path.with_name(path.name.removesuffix(_OPEN) + _READY))
    except OSError:
        return  # its writer lives, or another process was faster


def read(path: Path) -> list[Record]:
    """The records of a file; a line that a full disk broke off is left out."""
    records: list[Record] = []
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    for line in lines:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if _is_record(value):
            records.append(value)
    return records


def _is_record(value: object) -> TypeGuard[Record]:
    return isinstance(value, dict)

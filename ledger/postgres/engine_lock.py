"""Lock files whose locks the kernel frees when the last process that holds them dies.

A lock belongs to the open file, not to the process: children that inherit the file hold it
too, and two openings in one process are two holders. No trace of a killed holder remains.
Source: https://man7.org/linux/man-pages/man2/flock.2.html
"""

import fcntl
import os
import time
from io import FileIO
from pathlib import Path
from typing import Final

POLL_S: Final = 0.01
"""How often a lock, or an engine that starts or stops, is looked at again."""


def open_lock(path: Path) -> FileIO:
    """Open the lock file, made on first use; closing the result lets the lock go."""

    def opener(name: str, _flags: int) -> int:
        return os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)

    return FileIO(os.fspath(path), "r+", opener=opener)


def share(lock: FileIO) -> None:
    """Hold the lock together with others; waits while somebody holds it alone."""
    fcntl.flock(lock, fcntl.LOCK_SH)


def try_alone(lock: FileIO) -> bool:
    """Hold the lock alone if nobody else holds it; a failed try lets a shared hold go."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def wait_alone(lock: FileIO, *, within_s: float) -> bool:
    """Hold the lock alone as soon as it is free; `False` when it was not in time."""
    deadline = time.monotonic() + within_s
    while not try_alone(lock):
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)
    return True

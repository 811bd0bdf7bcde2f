"""A worker's identity is a lock on a file of its host: held while the process lives.

Held by another: refuse to start. Free: whoever had it is dead, and its work is taken over at
once, without waiting for heartbeats to stop.
"""

import fcntl
import os
import secrets
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from ledger.commands import Worker
from ledger.errors import IdentityHeld
from ledger.ids import new_id


@contextmanager
def held_identity(home: Path, identity: str) -> Generator[Worker]:
    """Hold an identity for as long as the process runs; the kernel lets go of it at its death.

    Raises:
        IdentityHeld: A process on this host has it.
    """
    folder = home / "identities"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{identity}.lock").open("a", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise IdentityHeld(identity) from None
        yield Worker(new_id(), identity, _host(home), os.getpid())


def passing_worker(identity: str) -> Worker:
    """A worker for one command: it holds at most one operation, for as long as its lease."""
    return Worker(new_id(), identity, socket.gethostname(), os.getpid())


def _host(home: Path) -> str:
    """This host and this state folder: the lock proves something for them alone.

    Two containers may bear one name; their folders differ, and so do the ids within.
    """
    path = home / "installation.id"
    with path.open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        known = file.read().strip()
        if not known:
            known = secrets.token_hex(4)
            file.write(known + "\n")
    return f"{socket.gethostname()}/{known}"

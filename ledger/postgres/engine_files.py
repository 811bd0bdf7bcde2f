"""The files of one engine, all in one folder that only its account may enter.

```
<home>/postgres/data          PostgreSQL's own
               /password      of the superuser, 0600
               /port          the loopback port, kept from start to start
               /log/          PostgreSQL's log, a file for each day of the week
               /start.log     what it said before its log was open, and initdb's output
               /*.lock        who starts, who uses, what lives: see `embedded`
               /.s.PGSQL.*    the socket, where its path is short enough
```
"""

import os
import secrets
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

SOCKET_PATH_MAX_BYTES: Final = 103
"""The longest socket path that works both on Linux (107) and on macOS (103).

Source: https://man7.org/linux/man-pages/man7/unix.7.html and macOS's sys/un.h.
"""

LOG_MAX_BYTES: Final = 32 * 1024 * 1024
"""A log file that is larger when the engine starts is removed."""

LOG_MAX_AGE_S: Final = 7 * 24 * 3600
"""A log file that was not written to for so long is removed when the engine starts."""


@dataclass(frozen=True, slots=True)
class Files:
    """The paths of one engine."""

    folder: Path

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.folder / "data"

    @property
    def unfinished(self) -> Path:
        """A data directory in the making; it is renamed when complete."""
        return self.folder / "data.new"

    @property
    def password(self) -> Path:
        """The superuser's password."""
        return self.folder / "password"

    @property
    def port(self) -> Path:
        """The loopback port of the last start."""
        return self.folder / "port"

    @property
    def log(self) -> Path:
        """The folder of PostgreSQL's log."""
        return self.folder / "log"

    @property
    def start_log(self) -> Path:
        """The output of initdb, and of the server until its log is open."""
        return self.folder / "start.log"

    @property
    def start_lock(self) -> Path:
        """Held alone while somebody starts, stops, joins or leaves."""
        return self.folder / "start.lock"

    @property
    def users_lock(self) -> Path:
        """Shared by all users."""
        return self.folder / "users.lock"

    @property
    def engine_lock(self) -> Path:
        """Held by the server and its children."""
        return self.folder / "engine.lock"

    def socket_folder(self) -> Path | None:
        """The folder of the socket, or `None` where libpq could not find it.

        A path may be too long for a socket, and a comma would divide it into two hosts.
        """
        path = os.fsencode(self.folder / ".s.PGSQL.65535")
        fits = len(path) <= SOCKET_PATH_MAX_BYTES and b"," not in path
        return self.folder if fits else None


@dataclass(frozen=True, slots=True)
class PidFile:
    """What a postmaster wrote about itself; it may be long dead, its number somebody else's.

    Source: https://www.postgresql.org/docs/18/storage-file-layout.html (postmaster.pid)
    """

    pid: int
    port: int
    status: str


def read_pid_file(data: Path) -> PidFile | None:
    """Read `postmaster.pid`; `None` when there is none or it is not complete."""
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
        return PidFile(int(lines[0]), int(lines[3]), lines[7].strip())
    except (FileNotFoundError, IndexError, ValueError):
        return None


def write_private(path: Path, text: str, *, mode: int = 0o600) -> None:
    """Put a file in place, complete and on disk, or not at all."""
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    with open_new(draft, mode=mode) as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def open_new(path: Path, *, mode: int = 0o600) -> IO[bytes]:
    """Open a file that did not exist; a link that somebody put there is not followed."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb")


def overwrite(path: Path, text: str) -> None:
    """Replace the content of a file in place, so that it keeps its owner."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW), "w") as file:
        file.write(text)


def ensure_password(files: Files) -> None:
    """Make up a password, unless there is one."""
    if not files.password.exists():
        write_private(files.password, secrets.token_urlsafe(32))


def saved_port(files: Files) -> int | None:
    """The port of the last start, if it can be read."""
    try:
        return int(files.port.read_text())
    except (OSError, ValueError):
        return None


def choose_port(files: Files) -> int:
    """Pick a loopback port that is free now, and keep it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    write_private(files.port, str(port), mode=0o644)
    return port


def prune_logs(files: Files) -> None:
    """Remove log files that are old or large; PostgreSQL only empties one a week later."""
    oldest = time.time() - LOG_MAX_AGE_S
    for path in files.log.glob("*.log"):
        found = path.stat()
        if found.st_mtime < oldest or found.st_size > LOG_MAX_BYTES:
            path.unlink()


def log_sizes(files: Files) -> dict[Path, int]:
    """How far each log file has been written, to tell later what is new."""
    return {path: path.stat().st_size for path in files.log.glob("*.log")}


def said_since(files: Files, before: Mapping[Path, int]) -> str:
    """What PostgreSQL said in the meantime: until its log was open, then in its log."""
    text = files.start_log.read_text(errors="replace") if files.start_log.exists() else ""
    for path in sorted(files.log.glob("*.log")):
        with path.open("rb") as file:
            file.seek(before.get(path, 0))
            text += file.read().decode(errors="replace")
    return text

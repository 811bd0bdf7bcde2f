"""Make, start, recognise and stop one PostgreSQL server.

Everything here is called by the only process that holds the folder's start lock. The server
and all its children hold `engine.lock` from their first moment to their last, which is how
anybody can tell whether something of it still lives; process numbers are believed only when
the process turns out to be a postmaster in this very data directory.
"""

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from io import FileIO
from pathlib import Path
from typing import BinaryIO, Final

import psutil

from ledger.postgres.engine_account import Account, account_for, hand_over
from ledger.postgres.engine_binaries import Binaries
from ledger.postgres.engine_data import check_fit, failure, make_data
from ledger.postgres.engine_errors import (
    EngineBusy,
    PortTaken,
)
from ledger.postgres.engine_files import (
    Files,
    choose_port,
    ensure_password,
    log_sizes,
    open_new,
    overwrite,
    prune_logs,
    read_pid_file,
    said_since,
    saved_port,
)
from ledger.postgres.engine_lock import POLL_S, open_lock, try_alone

START_S: Final = 300.0
"""How long a start may take. After a crash the log is replayed first; 10 s are too few."""

STOP_S: Final = 60.0
"""How long a fast stop may take before an immediate one, which the next start repairs."""

COLLECT_S: Final = 5.0
"""How long the logging collector of a server that ended may take to write its last words."""

PORT_TRIES: Final = 5
"""How many ports are tried before giving up."""


def start(files: Files, binaries: Binaries, settings: Mapping[str, str], lock: FileIO) -> None:
    """Start the server on the folder's data, made first if there is none.

    Args:
        files: Where it lives.
        binaries: The programs to run.
        settings: Further server settings; ours win.
        lock: `engine.lock`, held alone; the server inherits it.

    Raises:
        EmbeddedPostgresError: See `engine_errors`.
    """
    if postmaster(files.data) is not None:
        raise EngineBusy(files.folder, "a server was started on its data by hand; stop it")
    account = account_for(files.folder, binaries.postgres)
    files.log.mkdir(mode=0o700, exist_ok=True)
    prune_logs(files)
    if not files.data.exists():
        ensure_password(files)
        make_data(files, binaries, account, lock, sync=settings.get("fsync") != "off")
    check_fit(files, binaries)
    _clear_remains(files)

    def launch_on(port: int) -> None:
        options = {**settings, **server_settings(files, port)}
        named = (part for name, value in options.items() for part in ("-c", f"{name}={value}"))
        _launch(files, account, [binaries.postgres, "-D", files.data, *named], lock)

    port = saved_port(files) or choose_port(files)
    for _ in range(PORT_TRIES - 1):
        with contextlib.suppress(PortTaken):
            return launch_on(port)
        port = choose_port(files)
    return launch_on(port)


def postmaster(data: Path) -> psutil.Process | None:
    """The live postmaster of this data directory, whatever the pid file claims."""
    claimed = read_pid_file(data)
    if claimed is None:
        return None
    try:
        process = psutil.Process(claimed.pid)
        # Its children replace their command line by a title, and keep the same folder.
        program = Path((process.cmdline() or [""])[0]).name
        return process if program == "postgres" and data.samefile(process.cwd()) else None
    except (psutil.Error, OSError):
        return None


def stop(files: Files, first: signal.Signals = signal.SIGINT) -> None:
    """Stop the server and wait until nothing of it lives; harmless when none runs.

    Args:
        files: Where it lives.
        first: SIGINT lets it write everything down; SIGKILL is a crash.

    Raises:
        EngineBusy: It runs where this process cannot signal it.
    """
    with open_lock(files.engine_lock) as engine:
        for sign, within_s in ((first, STOP_S), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 10.0)):
            deadline = time.monotonic() + within_s
            signalled = False
            while time.monotonic() < deadline:
                if try_alone(engine):
                    return
                signalled = signalled or _signal(files.data, sign)
                time.sleep(POLL_S)
    raise EngineBusy(files.folder, "it does not stop, or not where this process can see it")


def _signal(data: Path, sign: signal.Signals) -> bool:
    process = postmaster(data)
    if process is None:
        return False
    try:
        process.send_signal(sign)
    except psutil.NoSuchProcess:
        return False
    return True


def _clear_remains(files: Files) -> None:
    """Keep what a crash left from stopping the start, once its process number is in use again.

    PostgreSQL refuses to start while any process of its user has the number in its pid file.
    It ignores its parent's number, which is ours, and still checks the shared memory named
    further down: hence the number is replaced and the file is kept. The socket and its lock
    file can go: `engine.lock` says that nobody listens.
    Source: CreateLockFile() in src/backend/utils/init/miscinit.c.
    """
    for path in files.folder.glob(".s.PGSQL.*"):
        path.unlink()
    pid_file = files.data / "postmaster.pid"
    if pid_file.exists():
        lines = pid_file.read_text().splitlines()
        overwrite(pid_file, "\n".join([str(os.getpid()), *lines[1:], ""]))


def _launch(files: Files, account: Account, argv: Sequence[str | Path], lock: FileIO) -> None:
    """Start the server and wait until it answers, however long it has to recover."""
    before = log_sizes(files)
    files.start_log.unlink(missing_ok=True)
    # Whatever the server forks holds the other end too: it closes when the last of them has gone.
    ours, theirs = os.pipe()
    with os.fdopen(ours, "rb") as gone:
        with open_new(files.start_log) as output, os.fdopen(theirs, "wb"):
            hand_over(files.folder, account)
            child = account.popen(*argv, output=output, keep=(lock.fileno(), theirs))
        if _came_up(files, child, gone):
            return
    raise failure(files, said_since(files, before))


def _came_up(files: Files, child: subprocess.Popen[bytes], gone: BinaryIO) -> bool:
    """Wait for an answer; false when it ended instead, and its logging collector after it."""
    # The one thread that waits for the child: however it dies, it does not stay a zombie.
    threading.Thread(target=child.wait, name="embedded-postgres", daemon=True).start()
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        ended = child.poll() is not None
        claimed = read_pid_file(files.data)
        if claimed is not None and claimed.pid == child.pid and claimed.status == "ready":
            return True
        if ended:
            # What it wrote last may still be on its way through the collector.
            select.select([gone], [], [], COLLECT_S)
            return False
        time.sleep(POLL_S)
    return False


def server_settings(files: Files, port: int) -> dict[str, str]:
    """What we insist on: reachable from this machine alone, by password, with a bounded log."""
    sockets = files.socket_folder()
    quoted = '"{}"'.format(str(sockets).replace('"', '""')) if sockets else ""
    return {
        "cluster_name": "outlive",
        "listen_addresses": "127.0.0.1",
        "port": str(port),
        "unix_socket_directories": quoted,
        "password_encryption": "scram-sha-256",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "log_destination": "stderr",
        "logging_collector": "on",
        "log_directory": str(files.log),
        "log_filename": "postgres-%a.log",
        "log_file_mode": "0600",
        "log_rotation_age": "1d",
        "log_rotation_size": "0",
        "log_truncate_on_rotation": "on",
    }

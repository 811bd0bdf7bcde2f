"""Make a data directory, and see whether an existing one fits."""

import shutil
import subprocess
from io import FileIO
from typing import Final

from ledger.postgres.engine_account import Account, hand_over
from ledger.postgres.engine_binaries import Binaries
from ledger.postgres.engine_errors import (
    DidNotStart,
    DiskFull,
    EmbeddedPostgresError,
    PortTaken,
    WrongPassword,
    WrongVersion,
)
from ledger.postgres.engine_files import Files, log_sizes, open_new, said_since

LAST_LINES: Final = 12
"""How many lines of the log an error quotes."""


def make_data(
    files: Files, binaries: Binaries, account: Account, lock: FileIO, *, sync: bool
) -> None:
    """Run initdb beside the final place, so that a crash leaves no half of a data directory.

    Args:
        files: Where it goes; the password file exists already.
        binaries: The programs.
        account: Who will own it.
        lock: `engine.lock`, which initdb holds too, should it outlive us.
        sync: Write everything to disk before the data directory appears.
    """
    shutil.rmtree(files.unfinished, ignore_errors=True)
    files.start_log.unlink(missing_ok=True)
    with open_new(files.start_log) as output:
        hand_over(files.folder, account)
        child = account.popen(
            binaries.initdb,
            f"--pgdata={files.unfinished}",
            "--username=postgres",
            "--auth=scram-sha-256",
            f"--pwfile={files.password}",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
            *(() if sync else ("--no-sync",)),
            output=output,
            keep=(lock.fileno(),),
        )
        if _ended(child) != 0:
            raise failure(files, said_since(files, log_sizes(files)))
    files.unfinished.rename(files.data)


def _ended(child: subprocess.Popen[bytes]) -> int:
    """Wait for a child's end, and see to it when the wait is broken off (Ctrl-C)."""
    try:
        return child.wait()
    except BaseException:
        child.kill()
        child.wait()
        raise


def check_fit(files: Files, binaries: Binaries) -> None:
    """Refuse programs of another major version, and data whose password is lost."""
    found = (files.data / "PG_VERSION").read_text().strip()
    if found != binaries.major:
        raise WrongVersion(files.data, found, binaries.major)
    if not files.password.exists():
        raise WrongPassword(files.password)


def failure(files: Files, said: str) -> EmbeddedPostgresError:
    """Turn the last words of a program into an error that says what to do."""
    last = "\n".join(said.splitlines()[-LAST_LINES:])
    if "No space left on device" in said:
        return DiskFull(files.folder)
    if "Address already in use" in said:
        return PortTaken(files.folder, last)
    return DidNotStart(files.folder, last)

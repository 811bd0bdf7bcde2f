"""Helpers for tests of the embedded engine: its processes, and other processes that use it."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psycopg

from ledger.postgres.engine_lock import open_lock, wait_alone
from tests.support.postgres import binaries_under_test

ROOT: Final = Path(__file__).parents[2]
PACKAGES: Final = Path(psycopg.__file__).parents[1]
SCRIPT: Final = ROOT / "tests" / "support" / "embedded_user.py"
ENVIRONMENT: Final = {
    "PATH": os.defpath,
    "PYTHONPATH": os.pathsep.join([str(ROOT), str(PACKAGES)]),
    "PYTHONDONTWRITEBYTECODE": "1",
}


@dataclass(frozen=True, slots=True)
class User:
    """Another process that uses the engine."""

    process: subprocess.Popen[str]
    dsn: str
    postmaster: int
    uid: int

    def leave(self) -> int:
        """Let it end in good order, and return its exit code."""
        self.process.communicate(timeout=60)
        return self.process.returncode


def start_user(
    home: Path, *, uid: int | None = None, python: str = sys.executable
) -> subprocess.Popen[str]:
    """Start a process that uses the engine; `uid` other than ours takes root."""
    return subprocess.Popen(
        [python, SCRIPT, home, str(binaries_under_test() or "")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        user=uid,
        group=uid,
        extra_groups=None if uid is None else [],
        env=ENVIRONMENT,
        start_new_session=True,
    )


def heard_from(process: subprocess.Popen[str]) -> User:
    """Wait until the process has the engine."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, f"it ended before it had the engine: {process.communicate()[1]}"
    return User(process, **json.loads(line))


@contextlib.contextmanager
def user(home: Path, *, uid: int | None = None, python: str = sys.executable) -> Generator[User]:
    """Run a process that uses the engine, and see to its end."""
    with start_user(home, uid=uid, python=python) as process:
        try:
            yield heard_from(process)
        finally:
            process.kill()


@contextlib.contextmanager
def stranger(*, uid: int | None = None) -> Generator[subprocess.Popen[bytes]]:
    """Run a process that has nothing to do with PostgreSQL, as `uid` if we are root."""
    with subprocess.Popen(["sleep", "600"], user=uid if os.geteuid() == 0 else None) as process:
        try:
            yield process
        finally:
            process.kill()


def python_for(uid: int) -> str | None:
    """Find an interpreter of our version with which this user can import what it needs.

    Ours may be in root's home, and so may the packages and the checkout.
    """
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for python in (sys.executable, f"/usr/bin/{version}"):
        with contextlib.suppress(OSError):
            missing = subprocess.call(
                [python, "-c", "import psycopg, ledger.postgres.embedded"],
                user=uid,
                group=uid,
                extra_groups=[],
                env=ENVIRONMENT,
                stderr=subprocess.DEVNULL,
            )
            if not missing:
                return python
    return None


def postmaster_of(home: Path) -> int:
    """The number in the pid file."""
    return int((home / "postgres/data/postmaster.pid").read_text().split()[0])


def all_gone(home: Path, *, within_s: float = 20) -> bool:
    """Tell whether nothing of the engine lives any more."""
    with open_lock(home / "postgres/engine.lock") as lock:
        return wait_alone(lock, within_s=within_s)

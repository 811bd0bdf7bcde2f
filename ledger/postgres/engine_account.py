"""As whom PostgreSQL runs: it refuses to run as root.

A normal user runs it as itself. Root hands the engine's own folder to `nobody` and starts it
as that. Where `nobody` cannot get to the folder or to the programs (a home inside a 0700
folder), root starts it under its own identity in a user namespace that calls it `nobody`; the
same helps a user without an entry in the password database, which initdb insists on. No
permission of a folder that is not ours is ever widened.
"""

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from ledger.postgres.engine_errors import FolderUnusable

NOBODY: Final = 65534
"""The unprivileged user and group of Linux systems; it has an entry in their databases."""

_MAP: Final = ("unshare", "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}", "--")
_REACH: Final = 'cd -- "$1" && test -x "$2"'


@dataclass(frozen=True, slots=True)
class Account:
    """Who owns the engine's files; `mapped` when its processes see themselves as `nobody`."""

    uid: int
    gid: int
    mapped: bool = False

    def popen(
        self, *argv: str | Path, output: IO[bytes] | int, keep: tuple[int, ...] = ()
    ) -> subprocess.Popen[bytes]:
        """Start a child as this account, in a session of its own, out of reach of Ctrl-C.

        Args:
            argv: The program and its arguments.
            output: Where both its output and its complaints go.
            keep: Open files that the child inherits.
        """
        switch = os.geteuid() == 0 and self.uid != 0
        return subprocess.Popen(  # noqa: S603  programs of our own installation
            [*(_MAP if self.mapped else ()), *argv],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            user=self.uid if switch else None,
            group=self.gid if switch else None,
            extra_groups=[] if switch else None,
            pass_fds=keep,
            cwd="/",
            env=_environment(),
            start_new_session=True,
        )

    def reaches(self, folder: Path, program: Path) -> bool:
        """Tell whether this account can get to both; the kernel is asked, not the modes."""
        try:
            child = self.popen(
                "/bin/sh", "-c", _REACH, "sh", folder, program, output=subprocess.DEVNULL
            )
        except OSError:
            return False
        return child.wait() == 0


def account_for(folder: Path, program: Path) -> Account:
    """Choose who runs the engine of `folder`, which exists and is ours.

    Raises:
        FolderUnusable: No account can both be used and get there.
    """
    uid = os.geteuid()
    if uid != 0:
        candidates = [Account(uid, os.getegid(), mapped=not _has_name(uid))]
    else:
        candidates = _candidates_of_root(folder)
    for account in candidates:
        if account.reaches(folder.parent, program):
            return account
    raise FolderUnusable(
        folder, f"PostgreSQL does not run as root, and no other account reaches {program} and it"
    )


def hand_over(folder: Path, account: Account) -> None:
    """Make `account` the owner of the engine's files; only root has to, and can.

    The data inside is walked through only when the folder changes hands. The folder itself
    comes last, so that an interrupted walk is taken up again.
    """
    if os.geteuid() != 0:
        return
    changes_hands = folder.stat().st_uid != account.uid
    for path in folder.rglob("*") if changes_hands else folder.iterdir():
        os.chown(path, account.uid, account.gid, follow_symlinks=False)
    os.chown(folder, account.uid, account.gid)


def _candidates_of_root(folder: Path) -> list[Account]:
    owner = folder.stat()
    nobody, mapped = Account(NOBODY, NOBODY), Account(0, 0, mapped=True)
    if owner.st_uid != 0:
        return [Account(owner.st_uid, owner.st_gid), mapped]
    return [mapped, nobody] if (folder / "data").exists() else [nobody, mapped]


def _has_name(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _environment() -> dict[str, str]:
    """Nothing of ours: no credentials for others to read, no PGPORT to trip over."""
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    return {"PATH": os.defpath, "LC_ALL": "C.UTF-8", **kept}

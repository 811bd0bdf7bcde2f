"""The policy in force: read from its file, reloaded safely.

A broken new file never replaces a good old one: the old one stays in force, and says so loudly.
"""

import hashlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ledger.policy import ASK_ALWAYS, BadPolicy, Policy, load_policy

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Standing:
    """What is to be told of a load."""

    version: int
    """In force."""
    problem: str | None
    """Why a newer file is not, if it is broken."""
    digest: str
    """SHA-256 of the file that was read last; of nothing where there is none."""


class PolicyFile:
    """Holds the policy in force and looks at its file now and then."""

    def __init__(self, path: Path | None) -> None:
        """Read the file.

        Raises:
            BadPolicy: At start a broken file is refused.
        """
        self._path = path
        self._seen = _stamp(path)
        self.policy: Policy = ASK_ALWAYS if path is None else load_policy(path)
        self.problem: str | None = None
        """Why the newer file is not in force, if it is broken."""
        self._digest = _digest(path)

    @property
    def has_file(self) -> bool:
        """Whether a file was named; without one every irreversible effect is for a person."""
        return self._path is not None

    @property
    def standing(self) -> Standing:
        """What is in force, and what came of the file that was read last."""
        return Standing(self.policy.version, self.problem, self._digest)

    def answers_above(self) -> Mapping[str, int]:
        """Above which amount an answer to a question takes two people, by currency."""
        self.refresh()
        return self.policy.answers_by_two_people_above_minor

    def refresh(self) -> None:
        """Read the file again if it changed."""
        stamp = _stamp(self._path)
        if self._path is None or stamp == self._seen:
            return
        self._seen = stamp
        self._digest = _digest(self._path)
        try:
            loaded = load_policy(self._path)
        except BadPolicy as error:
            self.problem = f"{error}. Policy {self.policy.version} stays in force."
            _log.error("%s", self.problem)
            return
        if loaded.version < self.policy.version:
            self.problem = (
                f"{self._path} has version {loaded.version}, older than the one in force; "
                f"policy {self.policy.version} stays in force. Raise the version."
            )
            _log.error("%s", self.problem)
            return
        self.policy, self.problem = loaded, None
        _log.info("policy %d is in force", loaded.version)


def _digest(path: Path | None) -> str:
    try:
        content = b"" if path is None else path.read_bytes()
    except FileNotFoundError:
        content = b""
    return hashlib.sha256(content).hexdigest()


def _stamp(path: Path | None) -> tuple[int, int] | None:
    if path is None:
        return None
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_size

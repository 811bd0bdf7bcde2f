"""What can go wrong, told apart by what is known."""

from collections.abc import Mapping
from typing import Any


class OutliveError(Exception):
    """Base of everything that this package raises."""


class Refused(OutliveError):
    """The ledger said no, with a stable code. Nothing was done, and saying it again won't help."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        """HTTP status."""
        self.code = str(problem.get("code", "unknown"))
        self.detail = str(problem.get("detail", "no reason was given"))
        self.problem = problem
        """The whole answer: `errors` by field, `current` state, where there are any."""
        super().__init__(f"{self.code}: {self.detail}")


class Unreachable(OutliveError):
    """No answer, for as long as it was tried. Whether the request was taken in is NOT known.

    Say the same again under the same key: what was taken in is found, nothing happens twice.
    """

    def __init__(self, key: str | None, reason: str) -> None:
        self.key = key
        super().__init__(f"no answer from the ledger ({reason})")

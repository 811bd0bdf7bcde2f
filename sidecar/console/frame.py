"""What stands around every page: which ledger, real money or not, and how much waits where."""

from dataclasses import dataclass
from enum import StrEnum

from ledger.postgres.snapshot import Snapshot


class Kind(StrEnum):
    """Whose money moves here."""

    SANDBOX = "sandbox"
    TEST = "test"
    LIVE = "live"


@dataclass(frozen=True, slots=True)
class Frame:
    """The frame of a page, of the page's own moment."""

    ledger: str
    kind: Kind
    in_doubt: int
    awaiting: int
    escalations: int


async def read_frame(now: Snapshot, ledger: str, *, sandboxed: bool) -> Frame:
    """Count what waits; from partial indexes, so at any size it costs what waits."""
    row = await now.row("console_frame")
    assert row is not None  # noqa: S101  a SELECT without FROM has one row
    kind = Kind.LIVE
    if sandboxed:
        kind = Kind.SANDBOX
    elif row["test_only"]:
        kind = Kind.TEST
    return Frame(ledger, kind, row["in_doubt"], row["awaiting"], row["escalations"])

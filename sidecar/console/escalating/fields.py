"""Fields of the forms about questions, read. Pure."""

from datetime import datetime
from typing import Final

from sidecar.console.page import Call

_DIGITS_MOST: Final = 18
"""What a `bigint` holds in any case."""


def moment_typed(call: Call, text: str) -> datetime | None:
    """A time as browsers send it (`2026-11-30T23:30`), in the reader's zone; `None`: it is none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=call.reader.tz)


def version_of(text: str) -> int:
    """The version of a case that a form names.

    Raises:
        ValueError: It names none.
    """
    if not (text.isascii() and text.isdecimal() and len(text) <= _DIGITS_MOST):
        raise ValueError("no version of a case")
    return int(text)

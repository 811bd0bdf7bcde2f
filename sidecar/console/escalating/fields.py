"""Fields of the forms about questions, read. Pure."""

from datetime import datetime

from sidecar.console.page import Call


def moment_typed(call: Call, text: str) -> datetime | None:
    """A time as browsers send it (`2026-11-30T23:30`), in the reader's zone; `None`: it is none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=call.reader.tz)

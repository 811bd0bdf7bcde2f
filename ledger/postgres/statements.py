"""Named SQL: one file a statement, so that each can be read, explained and tested by its name."""

from functools import cache
from importlib.resources import files

_FOLDER = files("ledger.postgres") / "sql"
_INCLUDE = "-- :include "


@cache
def sql(name: str) -> bytes:
    """Return the statement `name`; a line `-- :include other` is replaced by that file."""
    lines = (_FOLDER / f"{name}.sql").read_bytes().splitlines()
    include = _INCLUDE.encode()
    return b"\n".join(
        sql(line.removeprefix(include).decode()) if line.startswith(include) else line
        for line in lines
    )

"""Make the tables that are missing; what is there already is never altered."""

from importlib.resources import files
from typing import Final

from telemetry.clickhouse.client import Store

_FOLDER: Final = files("telemetry.clickhouse") / "schema"
FILES: Final = ("traces", "logs", "facts")


def statements(script: str) -> list[str]:
    """The statements of a script. Ours hold no semicolon but the one at a statement's end."""
    code = "\n".join(line.split("--", 1)[0] for line in script.splitlines())
    return [part.strip() for part in code.split(";") if part.strip()]


def ensure(store: Store) -> None:
    """Create what is missing.

    Raises:
        ClickHouseUnreachable: The server does not answer, or this account may not create tables.
    """
    for name in FILES:
        for statement in statements((_FOLDER / f"{name}.sql").read_text(encoding="utf-8")):
            store.command(statement)

"""Make the tables that are missing; what is there already is never altered, nor added to."""

from importlib.resources import files
from typing import Final

from telemetry.clickhouse.client import Store

_FOLDER: Final = files("telemetry.clickhouse") / "schema"
FILES: Final = {
    "otel_traces": "traces",
    "otel_logs": "logs",
    "outlive_events": "facts",
    "outlive_matters": "matters",
}
"""The script that makes each table, with what belongs to it."""


def statements(script: str) -> list[str]:
    """The statements of a script. Ours hold no semicolon but the one at a statement's end."""
    code = "\n".join(line.split("--", 1)[0] for line in script.splitlines())
    return [part.strip() for part in code.split(";") if part.strip()]


def ensure(store: Store) -> None:
    """Create what is missing.

    Raises:
        ClickHouseUnreachable: The server does not answer, or this account may not create tables.
    """
    rows = store.rows("SELECT name FROM system.tables WHERE database = currentDatabase()")
    there = {name for (name,) in rows}
    for table, script in FILES.items():
        if table not in there:
            run(store, (_FOLDER / f"{script}.sql").read_text(encoding="utf-8"))


def run(store: Store, script: str) -> None:
    """Run a script's statements. Raises as `ensure` does."""
    for statement in statements(script):
        store.command(statement)

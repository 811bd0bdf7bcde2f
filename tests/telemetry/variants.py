"""The shapes of trace tables that are met in the wild, made from their column lists."""

from pathlib import Path
from typing import Final

from telemetry.clickhouse.client import connect
from telemetry.clickhouse.tables import ensure, run

_FOLDER: Final = Path(__file__).with_name("shapes")
VARIANTS: Final = {
    "collector": "collector",
    "collector_150": "collector up to 0.150",
    "clickstack": "ClickStack",
    "clickstack_compatible": "ClickStack, compatible",
}
"""Our name of each, and the reader's."""


def make(url: str, name: str) -> None:
    """Make the tables of a shape, as whoever was there first did, then whatever we lack."""
    with connect(url) as store:
        script = _FOLDER / f"{name}.sql"
        if script.exists():
            run(store, script.read_text(encoding="utf-8"))
        ensure(store)

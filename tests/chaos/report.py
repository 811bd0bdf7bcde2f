"""What people see of a run: one table, a row for each fault."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from rich.table import Table


class Outcome(StrEnum):
    """How a fault ended."""

    HELD = "held"
    BROKEN = "BROKEN"
    SKIPPED = "skipped"


class Skipped(Exception):
    """A real part is missing here; says which, and how to get it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One fault."""

    fault: str
    rounds: int = 0
    operations: int = 0
    acknowledged: int = 0
    lost: int = 0
    twice: int = 0
    stuck: int = 0
    truth_s: float = 0.0
    """From the last fault and the last request until every operation had ended."""
    result: Outcome = Outcome.HELD
    told: tuple[str, ...] = ()
    """What was wrong, why it was skipped, or what else was measured."""
    took_s: float = field(default=0.0, kw_only=True)


_NUMBERS = ("rounds", "operations", "acknowledged", "lost", "twice", "stuck")


def as_table(rows: Sequence[Row]) -> Table:
    """The table for a person."""
    table = Table(title="Failure of real parts, judged by the provider's true effects")
    table.add_column("fault")
    for name in (*_NUMBERS, "time to truth"):
        table.add_column(name, justify="right")
    table.add_column("result")
    colour = {Outcome.HELD: "green", Outcome.BROKEN: "red", Outcome.SKIPPED: "yellow"}
    for row in rows:
        numbers = (str(getattr(row, name)) for name in _NUMBERS)
        told = f"[{colour[row.result]}]{row.result}[/]"
        table.add_row(row.fault, *numbers, f"{row.truth_s:.1f} s", told)
    return table


def as_json(rows: Sequence[Row]) -> str:
    """The table for a program."""
    held = not any(row.result is Outcome.BROKEN for row in rows)
    told = {"proof": "chaos", "held": held, "faults": [asdict(row) for row in rows]}
    return json.dumps(told, indent=2)

"""The few rows that a person looks at, each with the reason why it was picked. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import Any

from ledger.model import Money


class Picked(StrEnum):
    """By which rule a row was picked."""

    LARGEST = "largest"
    TWICE = "twice"
    """Another row acts on the same target."""
    DRAWN = "drawn"


@dataclass(frozen=True, slots=True)
class Check:
    """A row to look at."""

    item: int
    object_id: str
    money: Money | None
    picked: Picked
    times_median: float | None
    """How large it is against the middle one, if it is much larger."""
    left: Money | None
    """What the target could still take; `None` where that is not known."""
    all_of_it: bool
    """It takes all that is left."""


def checks_of(preview: Mapping[str, Any], objects: Mapping[int, str]) -> tuple[Check, ...]:
    """The rows that the preview picked."""
    rows: Sequence[Mapping[str, Any]] = preview["preconditions"]
    picked: Sequence[int] = preview["check"]
    targets = Counter[str](row["target"] for row in rows)
    amounts: list[int] = [row["amount_minor"] for row in rows if row["amount_minor"] is not None]
    middle = median(amounts) if len(amounts) > 2 else 0  # noqa: PLR2004  fewer have no middle
    largest = max(amounts, default=None)
    return tuple(
        _check(item, rows[item - 1], objects.get(item, ""), targets, middle, largest, first=n == 0)
        for n, item in enumerate(picked)
    )


def _check(
    item: int,
    row: Mapping[str, Any],
    object_id: str,
    targets: Counter[str],
    middle: float,
    largest: int | None,
    *,
    first: bool,
) -> Check:
    amount, remaining = row["amount_minor"], row.get("remaining_minor")
    picked = Picked.DRAWN
    if targets[row["target"]] > 1:
        picked = Picked.TWICE
    elif first and amount is not None and amount == largest:
        picked = Picked.LARGEST
    times = amount / middle if amount and middle else 0
    money = None if amount is None else Money(amount, row["currency"])
    return Check(
        item=item,
        object_id=object_id,
        money=money,
        picked=picked,
        times_median=times if times >= 2 else None,  # noqa: PLR2004  below that it is no news
        left=None if remaining is None or money is None else Money(remaining, money.currency),
        all_of_it=money is not None and remaining == amount,
    )

"""All rows of a proposal in a few lines, of which none may be left out. Pure.

The lines were made with the preview. Here they are added up once more, against the rows that are
stored beside them: a page says "every row is in here" only where that is so.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ledger.model import Money


@dataclass(frozen=True, slots=True)
class Line:
    """Rows of one amount, or of a band of amounts; without an amount: rows that move no money."""

    count: int
    largest: Money | None
    smallest: Money | None
    total: Money | None
    percent: str
    """Of the bar: its share of the largest sum in its currency."""

    @property
    def band(self) -> bool:
        """Whether its amounts differ."""
        return self.largest != self.smallest


@dataclass(frozen=True, slots=True)
class Groups:
    """The lines, and whether they add up to every row."""

    lines: tuple[Line, ...]
    count: int
    totals: tuple[Money, ...]
    """One sum a currency."""
    whole: bool
    """Counts and sums of the lines, of the rows and of the preview's totals are the same."""

    @property
    def bands(self) -> bool:
        """Whether some lines hold different amounts."""
        return any(line.band for line in self.lines)


def groups_of(preview: Mapping[str, Any]) -> Groups:
    """The lines of a preview, with equal amounts ordered by what they add up to."""
    rows = [_money(row, "amount_minor") for row in preview.get("preconditions", ())]
    given = preview.get("groups", ())
    most = Counter[str]()
    for group in given:
        most[group["currency"]] = max(most[group["currency"]], group["total_minor"])
    lines = [_line(group, most[group["currency"]]) for group in given]
    if not any(line.band for line in lines):
        lines.sort(key=lambda line: _order(line.total))
    bare = sum(money is None for money in rows)
    if bare:
        lines.append(Line(bare, None, None, None, "0%"))
    totals = tuple(
        Money(each["total_minor"], each["currency"]) for each in preview.get("totals", ())
    )
    return Groups(tuple(lines), len(rows), totals, _adds_up(lines, rows, totals, preview))


def _adds_up(
    lines: Sequence[Line],
    rows: Sequence[Money | None],
    totals: Sequence[Money],
    preview: Mapping[str, Any],
) -> bool:
    in_lines, in_rows = _sums(line.total for line in lines), _sums(rows)
    counted = sum(line.count for line in lines)
    return counted == len(rows) == preview.get("items") and in_lines == in_rows == _sums(totals)


def _sums(each: Any) -> Mapping[str, int]:
    sums = Counter[str]()
    for money in each:
        if money is not None:
            sums[money.currency] += money.amount_minor
    return sums


def _line(group: Mapping[str, Any], most_minor: int) -> Line:
    share = 100 * group["total_minor"] / most_minor if most_minor else 0
    return Line(
        group["items"],
        _money(group, "largest_minor"),
        _money(group, "smallest_minor"),
        _money(group, "total_minor"),
        f"{share:.1f}%",
    )


def _money(row: Mapping[str, Any], name: str) -> Money | None:
    return None if row[name] is None else Money(row[name], row["currency"])


def _order(total: Money | None) -> tuple[str, int]:
    return ("", 0) if total is None else (total.currency, -total.amount_minor)

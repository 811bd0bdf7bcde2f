"""Which possible repeats a person has answered, as the address of the page holds it. Pure.

Nothing is stored before the decision: the answers travel in the address, and the decision names
those items that are meant although something resembles them.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import urlencode

from ledger.model import Money

_MOST: Final = 10_000
"""Numbers that one text may name: a proposal has no more rows."""


@dataclass(frozen=True, slots=True)
class Answers:
    """Items that are meant, and items that are to be left out."""

    keep: frozenset[int] = frozenset()
    leave: frozenset[int] = frozenset()

    @classmethod
    def of(cls, query: Mapping[str, str], asked: Collection[int]) -> Self:
        """From an address; only for items that are asked about."""
        leave = numbers(query.get("leave", "")) & set(asked)
        return cls(frozenset(numbers(query.get("keep", "")) & set(asked) - leave), frozenset(leave))

    def missing(self, asked: Collection[int]) -> int:
        """How many are not answered."""
        return len(set(asked) - self.keep - self.leave)

    def kept(self, item: int) -> Self:
        """With one more that is meant."""
        return type(self)(self.keep | {item}, self.leave - {item})

    def left(self, item: int) -> Self:
        """With one more that is left out."""
        return type(self)(self.keep - {item}, self.leave | {item})

    @property
    def query(self) -> str:
        """For an address: with its question mark, or nothing."""
        given = {"keep": _text(self.keep), "leave": _text(self.leave)}
        told = {name: text for name, text in given.items() if text}
        return f"?{urlencode(told, safe=',')}" if told else ""


def numbers(text: str) -> set[int]:
    """`3,7-9` as numbers; what makes no sense is passed over."""
    found, room = set[int](), _MOST
    for part in text.replace(" ", "").split(","):
        first, dash, last = part.partition("-")
        ends = (first, last) if dash else (first, first)
        if not all(end.isascii() and end.isdecimal() for end in ends):
            continue
        begin, end = (int(each[:6]) for each in ends)
        told = range(begin, min(end + 1, begin + room))
        found.update(told)
        room -= len(told)
    return found


def without(rows: Sequence[Money | None], left: Collection[int]) -> tuple[int, tuple[Money, ...]]:
    """Count and sums of the rows that stay; rows are numbered from 1."""
    sums = Counter[str]()
    count = 0
    for number, money in enumerate(rows, 1):
        if number in left:
            continue
        count += 1
        if money is not None:
            sums[money.currency] += money.amount_minor
    return count, tuple(Money(total, currency) for currency, total in sorted(sums.items()))


def renumbered(kept: Collection[int], left: Collection[int], items: int) -> frozenset[int]:
    """The numbers that items have once others are left out."""
    stay = [number for number in range(1, items + 1) if number not in left]
    return frozenset(new for new, old in enumerate(stay, 1) if old in kept)


def _text(items: Collection[int]) -> str:
    return ",".join(str(item) for item in sorted(items))

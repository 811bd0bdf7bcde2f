"""What one version of a proposal says otherwise than the one before it. Pure."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ledger.model import Money
from ledger.proposals import Proposal

MOST: Final = 50
"""Changed rows that are shown; the numbers above them count all."""


@dataclass(frozen=True, slots=True)
class Sums:
    """One currency before and after: the total, and the largest row."""

    currency: str
    total: tuple[Money | None, Money | None]
    largest: tuple[Money | None, Money | None]


@dataclass(frozen=True, slots=True)
class Row:
    """One target that stands in one version only, or otherwise."""

    target: str
    before: Money | None
    after: Money | None
    was: bool
    """It stood in the older version."""
    stands: bool
    """It stands in the newer one."""
    fields: tuple[tuple[str, str, str], ...] = ()
    """Parameters that changed: name, before, after."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Everything that differs."""

    before: int
    after: int
    """Versions."""
    items: tuple[int, int]
    sums: tuple[Sums, ...]
    rows: tuple[Row, ...]
    more: int
    """Rows beyond those."""


def difference(old: Proposal, new: Proposal) -> Difference:
    """From one version to another."""
    before, after = _rows(old), _rows(new)
    changed = [
        row
        for target in dict.fromkeys([*before, *after])
        for row in _compare(target, before.get(target, ()), after.get(target, ()))
    ]
    return Difference(
        old.version,
        new.version,
        (len(old.input), len(new.input)),
        _sums(old, new),
        tuple(changed[:MOST]),
        max(0, len(changed) - MOST),
    )


@dataclass(frozen=True, slots=True)
class _Item:
    money: Money | None
    parameters: Mapping[str, Any]


def _rows(proposal: Proposal) -> dict[str, list[_Item]]:
    """Items by their target, in order."""
    found = defaultdict[str, list[_Item]](list)
    worlds: Sequence[Mapping[str, Any]] = proposal.preview.get("preconditions", ())
    for world, parameters in zip(worlds, proposal.input, strict=False):
        amount = world["amount_minor"]
        money = None if amount is None else Money(amount, world["currency"])
        found[world["target"]].append(_Item(money, parameters))
    return found


def _compare(target: str, before: Sequence[_Item], after: Sequence[_Item]) -> list[Row]:
    name = target.rpartition("/")[2]
    rows = [
        Row(name, old.money, new.money, was=True, stands=True, fields=_fields(old, new))
        for old, new in zip(before, after, strict=False)
        if old != new
    ]
    rows += [Row(name, old.money, None, was=True, stands=False) for old in before[len(after) :]]
    rows += [Row(name, None, new.money, was=False, stands=True) for new in after[len(before) :]]
    return rows


def _fields(old: _Item, new: _Item) -> tuple[tuple[str, str, str], ...]:
    names = [name for name in {**old.parameters, **new.parameters} if not name.endswith("_minor")]
    pairs = ((name, old.parameters.get(name), new.parameters.get(name)) for name in names)
    return tuple(
        (name, "" if was is None else str(was), "" if now is None else str(now))
        for name, was, now in pairs
        if was != now
    )


def _sums(old: Proposal, new: Proposal) -> tuple[Sums, ...]:
    before, after = _totals(old), _totals(new)
    return tuple(
        Sums(
            currency,
            (before.get(currency, (None, None))[0], after.get(currency, (None, None))[0]),
            (before.get(currency, (None, None))[1], after.get(currency, (None, None))[1]),
        )
        for currency in sorted({*before, *after})
    )


def _totals(proposal: Proposal) -> dict[str, tuple[Money, Money]]:
    total, largest = Counter[str](), Counter[str]()
    for world in proposal.preview.get("preconditions", ()):
        if world["amount_minor"] is not None:
            currency = world["currency"]
            total[currency] += world["amount_minor"]
            largest[currency] = max(largest[currency], world["amount_minor"])
    return {c: (Money(total[c], c), Money(largest[c], c)) for c in total}

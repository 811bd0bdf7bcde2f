"""Whether a changed proposal asks for more than the version before it. Pure.

Whoever makes it more has asked for that part themselves, and nobody approves alone what they
asked for: it takes a second person.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from ledger.commands import NewOperation
from ledger.model import Json
from ledger.proposals import Item

MORE: Final = "asks_for_more"
"""In the preview of a version that does."""


def asks_for_more(before: Sequence[Item], after: Sequence[NewOperation]) -> bool:
    """Say whether anything moves more money on a target, or does what was not asked for.

    Where no amount says how much, the parameters must be those of an item before.
    """
    asked = Counter[tuple[str, str]]()
    as_it_was: list[Mapping[str, Json]] = []
    for item in before:
        if item.prepared["amount_minor"] is None:
            as_it_was.append(item.prepared["parameters"])
        else:
            asked[item.target, item.prepared["currency"]] += item.prepared["amount_minor"]
    for new in after:
        money = new.subject.money
        if money is not None:
            asked[new.subject.target, money.currency] -= money.amount_minor
        elif dict(new.parameters) in as_it_was:
            as_it_was.remove(dict(new.parameters))
        else:
            return True
    return any(left < 0 for left in asked.values())

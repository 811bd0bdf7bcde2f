"""Whether a changed proposal asks for more than the version before it. Pure.

Whoever makes it more has asked for that part themselves, and nobody approves alone what they
asked for: it takes a second person.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from ledger.commands import NewOperation
from ledger.model import Json
from ledger.proposals import Item

MORE: Final = "asks_for_more"
"""In the preview of a version that does."""
AMOUNT: Final = "amount_minor"
"""The parameter that an amount has in every type."""


def asks_for_more(before: Sequence[Item], after: Sequence[NewOperation]) -> bool:
    """Say whether anything moves more money on a target, or does what was not asked for there.

    Every parameter but the amount must be that of an item before: a refund's reason has effects of
    its own at the provider.
    """
    asked = {item.target: item.prepared for item in before}  # a target stands once in a batch
    return any(_is_more(asked.get(new.subject.target), new) for new in after)


def _is_more(before: Mapping[str, Json] | None, new: NewOperation) -> bool:
    if before is None or _but_amount(new.parameters) != _but_amount(before["parameters"]):
        return True
    money, asked_minor = new.subject.money, before[AMOUNT]
    if money is None or asked_minor is None:
        return (money is None) != (asked_minor is None)
    return bool(money.currency != before["currency"] or money.amount_minor > asked_minor)


def _but_amount(parameters: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in parameters.items() if name != AMOUNT}

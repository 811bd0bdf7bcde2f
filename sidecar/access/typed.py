"""What a person at the console must type before something counts, and whether they did. Pure.

The server compares; programs, which name version and digest, type nothing.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Final

from ledger.model import Money
from ledger.policy import totals
from recovery.verify import Verdict

_SPACES: Final = re.compile(r"[\s  ]+")
_NUMBER: Final = re.compile(r"[0-9]+(?:[.,'’][0-9]+)*")  # noqa: RUF001  an apostrophe as people type it


class Kind(StrEnum):
    """What is to be typed."""

    NOTHING = "nothing"
    COUNT = "count"
    AMOUNT = "amount"
    SCOPE = "scope"
    REASON = "reason"


@dataclass(frozen=True, slots=True)
class ToType:
    """What is to be typed."""

    kind: Kind
    text: str = ""
    """The count, the amount (`386.00 EUR`) or the scope; empty for a reason."""


NOTHING: Final = ToType(Kind.NOTHING)
REASON: Final = ToType(Kind.REASON)


def for_approval(
    money: Sequence[Money | None], *, reversible: bool, amount: str, above_minor: Mapping[str, int]
) -> ToType:
    """For an approval: the count of a batch; the amount of one item above the policy's threshold.

    Args:
        money: What each item moves.
        reversible: Whether the type says how to undo it.
        amount: The one item's amount, in major units.
        above_minor: `type_to_confirm_above_minor` of the policy in force.
    """
    if len(money) > 1:
        return ToType(Kind.COUNT, str(len(money)))
    above = any(
        currency in above_minor and total > above_minor[currency]
        for currency, total in totals(money).items()
    )
    return ToType(Kind.AMOUNT, amount) if above and not reversible else NOTHING


def for_answer(verdict: Verdict, *, amount: str | None) -> ToType:
    """For an answer to one question; `amount` in major units, or none."""
    if verdict is Verdict.SEND_AGAIN and amount is not None:
        return ToType(Kind.AMOUNT, amount)
    return REASON if verdict is Verdict.GIVE_UP or verdict is Verdict.SEND_AGAIN else NOTHING


def for_bulk(count: int) -> ToType:
    """For one answer to many questions."""
    return ToType(Kind.COUNT, str(count))


def for_release(scope: str) -> ToType:
    """For taking a brake off."""
    return ToType(Kind.SCOPE, scope)


def fits(wanted: ToType, typed: str) -> bool:
    """Whether what was typed is what was to be typed."""
    match wanted.kind:
        case Kind.NOTHING:
            return True
        case Kind.REASON:
            return bool(typed.strip())
        case Kind.SCOPE:
            return typed.strip() == wanted.text
        case Kind.COUNT:
            return _digits(typed) == wanted.text
        case Kind.AMOUNT:
            return _amount_fits(wanted.text, typed)


def _digits(typed: str) -> str:
    """A whole number, with or without separators of thousands."""
    bare = re.sub(r"[.,'’](?=[0-9]{3}(?:[^0-9]|$))", "", _SPACES.sub("", typed))  # noqa: RUF001  as above
    return bare if bare.isascii() and bare.isdecimal() else ""


def _amount_fits(wanted: str, typed: str) -> bool:
    """Compare amounts as people write them: `4,120.00 EUR`, `4.120,00`, `4120`.

    What could be read in two ways is read with as many decimals as the currency has.
    """
    number, _, currency = wanted.partition(" ")
    bare = _SPACES.sub("", typed).upper().removesuffix(currency.upper())
    decimals = len(number.partition(".")[2])
    given = _read(bare, decimals)
    return given is not None and given == _read(number, decimals)


def _read(text: str, decimals: int) -> Decimal | None:
    if not _NUMBER.fullmatch(text):
        return None
    parts = re.split(r"[.,'’]", text)  # noqa: RUF001  as above
    whole, last = parts[:-1], parts[-1]
    if decimals and whole and len(last) == decimals:
        parts, fraction = whole, last
    else:
        fraction = "0"
    if any(len(part) != 3 for part in parts[1:]):  # noqa: PLR2004  thousands
        return None
    try:
        return Decimal("".join(parts) + "." + fraction)
    except InvalidOperation:
        return None

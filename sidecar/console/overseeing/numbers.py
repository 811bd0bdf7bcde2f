"""A panel's numbers with their units, as the reader's language writes them. Pure."""

from typing import Final

from ledger.model import Money
from sidecar.console.figures import amount, span
from sidecar.console.overseeing.drawing import round_above, round_above_s
from sidecar.console.reader import Language
from telemetry.panels.model import Unit

_S_SMALL: Final = 10
_MS: Final = 1_000


def end_of(unit: Unit, most: float) -> float:
    """Where a scale ends that must hold a value."""
    match unit:
        case Unit.SECONDS:
            return round_above_s(most)
        case Unit.MILLISECONDS:
            return round_above_s(most / _MS) * _MS
        case Unit.SHARE:
            return 1.0
        case _:
            return round_above(most)


def number(unit: Unit, name: str, value: float | None, language: Language) -> str:
    """A value with its unit, as the reader's language writes it."""
    if value is None:
        return "-"
    match unit:
        case Unit.MINOR:
            told, currency = amount(Money(round(value), name), language)
            return f"{told} {currency}"
        case Unit.SECONDS:
            return _length(value, language)
        case Unit.MILLISECONDS:
            return f"{value:.0f} ms" if value < _MS else _length(value / _MS, language)
        case Unit.SHARE:
            return f"{value * 100:.0f} %"
        case _:
            return _count(value, language)


def _length(seconds: float, language: Language) -> str:
    if seconds >= _S_SMALL:
        return span(seconds)
    return _decimal(f"{seconds:.3g}", language) + " s"


def _count(value: float, language: Language) -> str:
    told = f"{value:,.0f}"
    return told if language is Language.ENGLISH else told.replace(",", ".")


def _decimal(told: str, language: Language) -> str:
    return told if language is Language.ENGLISH else told.replace(".", ",")

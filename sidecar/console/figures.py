"""Money and times as a reader's language writes them. Pure."""

from datetime import datetime, timedelta
from typing import Final

from babel.dates import format_date

from dispatcher.providers.stripe.money import UnknownCurrency, exponent
from ledger.model import Money
from sidecar.console.reader import Language, Reader

_MINUTE_S: Final = 60
_HOUR_S: Final = 3_600
_DAY_S: Final = 86_400
_HOURS_MOST: Final = 72
"""Up to here hours are easier to weigh than days: `47 h 48 min`."""
_NEAR: Final = timedelta(days=6)
_MARKS: Final = {Language.ENGLISH: (",", "."), Language.SPANISH: (".", ",")}
"""Between thousands, and before decimals."""


def whole(number: int, language: Language) -> str:
    """A count: `1,234`, `1.234`."""
    return f"{number:,}".replace(",", _MARKS[language][0])


def amount(money: Money, language: Language) -> tuple[str, str]:
    """Number and currency apart; all decimals of the provider's minor unit, never rounded."""
    currency = money.currency.upper()
    try:
        places = exponent(money.currency)
    except UnknownCurrency:
        return str(money.amount_minor), f"{currency} (minor units)"
    point = _MARKS[language][1]
    units, part = divmod(abs(money.amount_minor), 10**places)
    number = whole(units, language)
    sign = "-" if money.amount_minor < 0 else ""
    return f"{sign}{number}{f'{point}{part:0{places}d}' if places else ''}", currency


def money_text(money: Money, language: Language) -> str:
    """`4,120.00 EUR`, `4.120,00 EUR`."""
    number, currency = amount(money, language)
    return f"{number} {currency}"


def span(seconds: float) -> str:
    """A length of time in two units at most: `3 h 02 min`. Alike in both languages."""
    whole = int(abs(seconds))
    if whole < _MINUTE_S:
        return f"{whole} s"
    if whole < _HOUR_S:
        minutes, rest = divmod(whole, _MINUTE_S)
        return f"{minutes} min {rest:02d} s" if minutes < 10 else f"{minutes} min"  # noqa: PLR2004
    if whole < _HOURS_MOST * _HOUR_S:
        return f"{whole // _HOUR_S} h {whole % _HOUR_S // _MINUTE_S:02d} min"
    return f"{whole // _DAY_S} d {whole % _DAY_S // _HOUR_S} h"


def clock(moment: datetime, now: datetime, reader: Reader, *, seconds: bool = False) -> str:
    """A time with its zone: with its weekday if not today, with its date if far."""
    local, today = moment.astimezone(reader.tz), now.astimezone(reader.tz)
    time = f"{local:%H:%M:%S}" if seconds else f"{local:%H:%M}"
    zone = local.tzname()
    if local.date() == today.date():
        return f"{time} {zone}"
    pattern = "EEE" if abs(local - today) < _NEAR else "EEE d MMM y,"
    return f"{format_date(local.date(), pattern, locale=reader.language.value)} {time} {zone}"


def full(moment: datetime, reader: Reader) -> str:
    """A time in full: `Mon 30 Nov 2026, 23:10:04 CET`."""
    local = moment.astimezone(reader.tz)
    day = format_date(local.date(), "EEE d MMM y", locale=reader.language.value)
    return f"{day}, {local:%H:%M:%S} {local.tzname()}"

"""Money, times and states as people read them. Pure."""

from datetime import datetime, timedelta
from typing import Final

from rich.text import Text

from dispatcher.providers.stripe.money import UnknownCurrency, exponent
from ledger.model import Money, State
from sidecar.plain import plain

_MINUTE_S: Final = 60
_HOUR_S: Final = 3_600
_DAY_S: Final = 86_400
_WEEK: Final = timedelta(days=6)

_SHAPES: Final = {
    State.CREATED: "◌ created",
    State.SENT: "◉ sent",
    State.CONFIRMED: "✓ confirmed",
    State.FAILED: "✗ failed",
}
_SENDINGS: Final = {"NO_EFFECT_RESEND", "SAFE_REPLAY", "TARGET_STATE", "DUPLICATE_TOLERABLE"}
_STYLES: Final = {State.CONFIRMED: "green", State.FAILED: "red"}


def money(amount: Money | None) -> str:
    """All decimals of the provider's minor unit, never rounded: `4,120.00 EUR`."""
    if amount is None:
        return "no money"
    currency = plain(amount.currency.upper())
    try:
        places = exponent(amount.currency)
    except UnknownCurrency:
        return f"{amount.amount_minor} minor units of {currency}"
    whole, part = divmod(abs(amount.amount_minor), 10**places)
    sign = "-" if amount.amount_minor < 0 else ""
    return f"{sign}{whole:,}{f'.{part:0{places}d}' if places else ''} {currency}"


def span(seconds: float) -> str:
    """A length of time in two units at most: `3 h 02 min`."""
    whole = int(abs(seconds))
    if whole < _MINUTE_S:
        return f"{whole} s"
    if whole < _HOUR_S:
        return f"{whole // _MINUTE_S} min {whole % _MINUTE_S:02d} s"
    if whole < _DAY_S:
        return f"{whole // _HOUR_S} h {whole % _HOUR_S // _MINUTE_S:02d} min"
    return f"{whole // _DAY_S} d {whole % _DAY_S // _HOUR_S:02d} h"


def clock(moment: datetime, now: datetime) -> str:
    """A time in the reader's zone: with its weekday if not today, with its date if far."""
    local, today = moment.astimezone(), now.astimezone()
    zone = local.tzname()
    if local.date() == today.date():
        return f"{local:%H:%M:%S} {zone}"
    if abs(local - today) < _WEEK:
        return f"{local:%a %H:%M} {zone}"
    return f"{local:%Y-%m-%d %H:%M} {zone}"


def when(moment: datetime | None, now: datetime) -> str:
    """A time, relative and absolute: `in 3 h 02 min, Tue 02:12 CET`."""
    if moment is None:
        return "never"
    away_s = (moment - now).total_seconds()
    told = f"in {span(away_s)}" if away_s >= 0 else f"{span(away_s)} ago"
    return f"{told}, {clock(moment, now)}"


def state(*, of: State, in_doubt: bool, escalated: bool, given_up: bool = False) -> Text:
    """Where an operation stands: shape and word; amber only where money is in doubt."""
    if escalated:
        return Text("● for a person", style="bold")
    if given_up:
        return Text("⊘ given up")
    if in_doubt:
        return Text("▨ in doubt", style="yellow")
    return Text(_SHAPES[of], style=_STYLES.get(of, ""))


def code(value: str | None) -> str:
    """A code as a word; a dash where there is none."""
    return "–" if value is None else plain(value)  # noqa: RUF001  a dash for "nothing"


def why(of: State, failure_code: str | None, decision: str | None) -> str:
    """Why it stands where it stands; what was once a reason to send is none for how it ended."""
    over = of in {State.CONFIRMED, State.FAILED}
    return code(failure_code or (None if over and decision in _SENDINGS else decision))

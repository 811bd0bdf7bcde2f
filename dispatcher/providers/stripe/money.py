"""Stripe's minor units, which are not those of ISO 4217. Pure.

Source: https://docs.stripe.com/currencies (read 2026-11).

- ISK and UGX have no decimals any more, yet amounts are still written with two, both zero.
  UGX stands in Stripe's zero-decimal list as well; its special case is about charges and wins.
- HUF and TWD are whole numbers only in payouts; charges and refunds have two decimals.
- MGA has no decimals at Stripe, though ISO gives it two.
- Three-decimal amounts must end in 0.
"""

from typing import Final

from ledger.model import Money

_TABLE: Final = {
    0: "bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf",
    2: """
        aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bmd bnd bob brl bsd bwp byn bzd
        cad cdf chf cny cop crc cve czk dkk dop dzd egp etb eur fjd fkp gbp gel gip gmd gtq gyd
        hkd hnl hrk htg huf idr ils inr isk jmd kes kgs khr kyd kzt lak lbp lkr lrd lsl mad mdl
        mkd mmk mnt mop mro mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd pab pen pgk php pkr
        pln qar ron rsd rub sar sbd scr sek sgd shp sle sll sos srd std svc szl thb tjs top try
        ttd twd tzs uah ugx usd uyu uzs wst xcd xcg yer zar zmw
    """,
    3: "bhd jod kwd omr tnd",
}
_EXPONENTS: Final = {code: places for places, codes in _TABLE.items() for code in codes.split()}
_WHOLE_ONLY: Final = frozenset({"isk", "ugx"})
_LAST_DIGIT_ZERO: Final = frozenset(_TABLE[3].split())


class UnknownCurrency(ValueError):
    """Not a currency whose minor unit at Stripe is known here."""

    def __init__(self, currency: str) -> None:
        super().__init__(f"{currency!r} is no currency that Stripe is known to take (lower case)")


def exponent(currency: str) -> int:
    """How many decimals the minor unit has.

    Raises:
        UnknownCurrency: Guessing would be wrong by a factor of ten or more.
    """
    try:
        return _EXPONENTS[currency]
    except KeyError:
        raise UnknownCurrency(currency) from None


def currencies(places: int) -> frozenset[str]:
    """Those whose minor unit has so many decimals."""
    return frozenset(code for code, decimals in _EXPONENTS.items() if decimals == places)


def step_minor(currency: str) -> int:
    """What an amount must be a multiple of.

    Raises:
        UnknownCurrency: As `exponent`.
    """
    exponent(currency)
    if currency in _WHOLE_ONLY:
        return 100
    return 10 if currency in _LAST_DIGIT_ZERO else 1


def major(money: Money) -> str:
    """The amount as people read it: `12.34 EUR`, `500 JPY`, `1.230 KWD`.

    Raises:
        UnknownCurrency: As `exponent`.
    """
    places = exponent(money.currency)
    sign = "-" if money.amount_minor < 0 else ""
    whole, part = divmod(abs(money.amount_minor), 10**places)
    decimals = f".{part:0{places}d}" if places else ""
    return f"{sign}{whole}{decimals} {money.currency.upper()}"

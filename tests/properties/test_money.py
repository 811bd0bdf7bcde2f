"""Minor units: no amount is shown as another, in any currency that is known."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dispatcher.providers.stripe.money import UnknownCurrency, exponent, major, step_minor
from ledger.model import Money

KNOWN: Final = ("eur", "usd", "jpy", "krw", "isk", "ugx", "huf", "twd", "mga", "kwd", "bhd", "tnd")
CURRENCIES: Final = st.sampled_from(KNOWN)
AMOUNTS: Final = st.integers(1, 10**12)


@given(AMOUNTS, AMOUNTS, CURRENCIES)
def test_different_amounts_are_shown_differently_and_in_order(
    one: int, other: int, currency: str
) -> None:
    """What people compare is what moves."""
    first, second = (float(major(Money(a, currency)).split(" ")[0]) for a in (one, other))
    assert (first < second) == (one < other)
    assert (major(Money(one, currency)) == major(Money(other, currency))) == (one == other)


@given(AMOUNTS, CURRENCIES, CURRENCIES)
def test_the_currency_is_always_told(amount: int, one: str, other: str) -> None:
    """The same number in two currencies is two texts."""
    told = major(Money(amount, one)), major(Money(amount, other))
    assert (told[0] == told[1]) == (one == other)


@given(st.integers(1, 10**9), CURRENCIES)
def test_what_a_step_allows_is_a_whole_number_of_what_people_pay(count: int, currency: str) -> None:
    """No fraction that the provider would refuse hides in a multiple of the step."""
    amount = count * step_minor(currency)
    shown = major(Money(amount, currency)).split(" ")[0]
    assert round(float(shown) * 10 ** exponent(currency)) == amount
    if step_minor(currency) == 100:
        assert shown.endswith(".00")


@given(st.text(max_size=4))
def test_a_currency_is_known_or_refused(text: str) -> None:
    """Never a guess, which would be wrong by a factor of ten or more."""
    try:
        places = exponent(text)
    except UnknownCurrency:
        with pytest.raises(UnknownCurrency):
            major(Money(1, text))
    else:
        assert places in {0, 2, 3}

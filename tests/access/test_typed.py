"""What a person must type before something counts, and what counts as typed."""

import pytest

from ledger.model import Money
from recovery.verify import Verdict
from sidecar.access.typed import (
    NOTHING,
    REASON,
    Kind,
    ToType,
    fits,
    for_answer,
    for_approval,
    for_bulk,
    for_release,
)

ONE = [Money(38_600, "eur")]


@pytest.mark.parametrize(
    ("above", "reversible", "wanted"),
    [
        ({}, False, NOTHING),
        ({"usd": 1}, False, NOTHING),
        ({"eur": 38_600}, False, NOTHING),
        ({"eur": 38_599}, False, ToType(Kind.AMOUNT, "386.00 EUR")),
        ({"eur": 1}, True, NOTHING),
    ],
    ids=["no threshold", "another currency", "at it", "above it", "reversible"],
)
def test_one_item_takes_its_amount_above_the_policys_threshold(
    above: dict[str, int], wanted: ToType, *, reversible: bool
) -> None:
    """Reversible or below it: nothing."""
    found = for_approval(ONE, reversible=reversible, amount="386.00 EUR", above_minor=above)
    assert found == wanted


def test_a_batch_takes_its_count() -> None:
    """Whatever it moves."""
    found = for_approval([None] * 38, reversible=True, amount="", above_minor={})
    assert found == for_bulk(38) == ToType(Kind.COUNT, "38")


@pytest.mark.parametrize(
    ("verdict", "wanted"),
    [
        (Verdict.SEND_AGAIN, ToType(Kind.AMOUNT, "386.00 EUR")),
        (Verdict.GIVE_UP, REASON),
        (Verdict.DID_NOT_HAPPEN, NOTHING),
        (Verdict.HAPPENED, NOTHING),
        (Verdict.WAIT, NOTHING),
    ],
)
def test_an_answer_takes_what_it_risks(verdict: Verdict, wanted: ToType) -> None:
    """The amount to send again, a reason never to."""
    assert for_answer(verdict, amount="386.00 EUR") == wanted


def test_sending_something_without_an_amount_again_takes_a_reason() -> None:
    """There is no amount to type."""
    assert for_answer(Verdict.SEND_AGAIN, amount=None) == REASON


@pytest.mark.parametrize(
    ("wanted", "typed", "good"),
    [
        (NOTHING, "", True),
        (REASON, " \n", False),
        (REASON, "wrong list", True),
        (for_release("all"), "all", True),
        (for_release("all"), "ALL", False),
        (for_bulk(38), " 38 ", True),
        (for_bulk(38), "41", False),
        (for_bulk(38), "", False),
        (for_bulk(38), "３８", False),  # noqa: RUF001  digits of another script
        (for_bulk(10_000), "10,000", True),
        (for_bulk(10_000), "10.000", True),
        (for_bulk(10_000), "10 000", True),
        (for_bulk(100), "10,0", False),
        (ToType(Kind.AMOUNT, "4120.00 EUR"), "4,120.00 EUR", True),
        (ToType(Kind.AMOUNT, "4120.00 EUR"), "4.120,00", True),
        (ToType(Kind.AMOUNT, "4120.00 EUR"), "4120", True),
        (ToType(Kind.AMOUNT, "4120.00 EUR"), "4120.00 eur", True),
        (ToType(Kind.AMOUNT, "4120.00 EUR"), "4120.00 USD", False),
        (ToType(Kind.AMOUNT, "4120.00 EUR"), "412000", False),
        (ToType(Kind.AMOUNT, "4120.00 EUR"), "-4120", False),
        (ToType(Kind.AMOUNT, "4120.00 EUR"), "", False),
        (ToType(Kind.AMOUNT, "386.00 EUR"), "38,600", False),
        (ToType(Kind.AMOUNT, "5000 JPY"), "5,000", True),
        (ToType(Kind.AMOUNT, "5000 JPY"), "5.00", False),
        (ToType(Kind.AMOUNT, "1.000 KWD"), "1,000", True),
        (ToType(Kind.AMOUNT, "1000.000 KWD"), "1,000", False),
    ],
)
def test_what_counts_as_typed(wanted: ToType, typed: str, *, good: bool) -> None:
    """As people write numbers; what can be read in two ways is read the cautious way."""
    assert fits(wanted, typed) is good

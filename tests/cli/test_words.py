"""Money and times as people read them."""

from datetime import UTC, datetime, timedelta

import pytest

from ledger.model import Money, State
from sidecar import words

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("amount", "told"),
    [
        (Money(412_000, "eur"), "4,120.00 EUR"),
        (Money(5, "eur"), "0.05 EUR"),
        (Money(-1_234_567, "usd"), "-12,345.67 USD"),
        (Money(500_000, "jpy"), "500,000 JPY"),
        (Money(1_230, "kwd"), "1.230 KWD"),
        (Money(7, "zzz"), "7 minor units of ZZZ"),
        (None, "no money"),
    ],
)
def test_money_has_all_decimals_of_the_provider(amount: Money | None, told: str) -> None:
    """Never rounded; an unknown currency is never guessed."""
    assert words.money(amount) == told


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (4, "4 s"),
        (125, "2 min 05 s"),
        (3 * 3_600 + 120, "3 h 02 min"),
        (-90_000, "1 d 01 h"),
    ],
)
def test_spans_have_two_units_at_most(seconds: float, told: str) -> None:
    """The sign is told by the sentence around it."""
    assert words.span(seconds) == told


def test_times_are_relative_and_absolute_with_a_zone() -> None:
    """Both, since either alone misleads."""
    soon = words.when(NOW + timedelta(hours=3, minutes=2), NOW)
    assert soon.startswith("in 3 h 02 min, ")
    assert words.when(NOW - timedelta(seconds=9), NOW).startswith("9 s ago, ")
    assert words.when(None, NOW) == "never"
    assert "2027-02" in words.when(NOW + timedelta(days=70), NOW)


def test_a_state_is_shape_and_word() -> None:
    """Colour alone says nothing; amber is for doubt only."""
    shown = words.state(of=State.SENT, in_doubt=True, escalated=False)
    assert (shown.plain, shown.style) == ("▨ in doubt", "yellow")
    asked = words.state(of=State.SENT, in_doubt=True, escalated=True)
    assert (asked.plain, asked.style) == ("● for a person", "bold")


def test_a_reason_to_send_is_no_reason_of_the_end() -> None:
    """A record that was simply answered says nothing; one that waits or failed says why."""
    assert words.why(State.CONFIRMED, None, "NO_EFFECT_RESEND") == words.code(None)
    assert words.why(State.SENT, None, "SAFE_REPLAY") == "SAFE_REPLAY"
    assert words.why(State.CREATED, None, "NOT_YET_BRAKE") == "NOT_YET_BRAKE"
    assert words.why(State.FAILED, "REJECTED", "SAFE_REPLAY") == "REJECTED"

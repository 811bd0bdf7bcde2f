"""Text, money and times as pages show them."""

from datetime import UTC, datetime, timedelta

import pytest

from ledger.model import Money
from sidecar.console.figures import clock, full, money_text, span
from sidecar.console.reader import COOKIE, Language, Reader
from sidecar.console.untrusted import SHOWN, untrusted
from tests.console.messages import missing

NOW = datetime(2026, 11, 30, 22, 10, 4, tzinfo=UTC)
MADRID = Reader(zone="Europe/Madrid")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ('" onload="x', "&#34; onload=&#34;x"),
        ("a\u202eb", 'a<span class="ctl">U+202E</span>b'),
        ("a\u200bb", 'a<span class="ctl">U+200B</span>b'),
        ("a\x07b", 'a<span class="ctl">U+0007</span>b'),
        ("\u3164", '<span class="ctl">U+3164</span>'),
        ("a\nb", "a<br>b"),
        (
            "z" + "\u0301" * 4,
            "z" + "\u0301" * 2 + '<span class="ctl">U+0301</span>' * 2,
        ),
    ],
)
def test_hostile_text_is_spelled_out(text: str, shown: str) -> None:
    """Escaped, isolated, and every character what it looks like."""
    assert untrusted(text) == f"<bdi>{shown}</bdi>"


def test_long_text_is_cut_and_says_how_much_there_is() -> None:
    """The rest is there, behind a switch that needs no script."""
    shown = untrusted("x" * 12_408, more="Show all %s")

    assert f"<bdi>{'x' * SHOWN}…</bdi>" in shown
    assert "<summary>Show all 12,408</summary>" in shown


@pytest.mark.parametrize(
    ("money", "english", "spanish"),
    [
        (Money(412_000, "eur"), "4,120.00 EUR", "4.120,00 EUR"),
        (Money(5, "usd"), "0.05 USD", "0,05 USD"),
        (Money(1_234_567, "jpy"), "1,234,567 JPY", "1.234.567 JPY"),
        (Money(1_234_560, "kwd"), "1,234.560 KWD", "1.234,560 KWD"),
        (Money(99, "zzz"), "99 ZZZ (minor units)", "99 ZZZ (minor units)"),
    ],
)
def test_money_is_never_rounded(money: Money, english: str, spanish: str) -> None:
    """All decimals of the provider's minor unit, the currency after it."""
    assert money_text(money, Language.ENGLISH) == english
    assert money_text(money, Language.SPANISH) == spanish


def test_times_name_their_zone_and_their_weekday_if_not_today() -> None:
    """In the reader's zone and language."""
    tomorrow = NOW + timedelta(hours=3, minutes=2)

    assert clock(NOW, NOW, MADRID, seconds=True) == "23:10:04 CET"
    assert clock(tomorrow, NOW, MADRID) == "Tue 02:12 CET"
    spanish = Reader(language=Language.SPANISH, zone="Europe/Madrid")
    assert clock(tomorrow, NOW, spanish) == "mar 02:12 CET"
    assert full(NOW, MADRID) == "Mon 30 Nov 2026, 23:10:04 CET"


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (26, "26 s"),
        (76, "1 min 16 s"),
        (720, "12 min"),
        (10_920, "3 h 02 min"),
        (172_080, "47 h 48 min"),
        (345_600, "4 d 0 h"),
    ],
)
def test_lengths_have_two_units_at_most(seconds: int, told: str) -> None:
    """And no more precision than helps."""
    assert span(seconds) == told


@pytest.mark.parametrize("cookie", ["", "x", "es|Mars/Base|neon|maybe", "fr|UTC|dark|off"])
def test_a_cookie_that_makes_no_sense_is_passed_over(cookie: str) -> None:
    """Somebody may have written it by hand."""
    found = Reader.of({COOKIE: cookie}, "")

    assert found.language in set(Language)
    assert found.zone == "UTC"


def test_settings_survive_their_cookie() -> None:
    """What was chosen is what is read."""
    chosen = Reader(Language.SPANISH, "Europe/Madrid", keys=False)

    assert Reader.of({COOKIE: chosen.cookie}, "en") == chosen


def test_every_text_has_its_spanish() -> None:
    """`python -m tests.console.messages` prints those that are missing."""
    assert missing() == {}

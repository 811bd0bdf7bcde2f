"""Text from outside does nothing to a terminal, and shows what it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.plain import plain
from tests.support.command_line import Place

HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202egnp.exe\u200b[bold red]x[/] :smile:\r\n\x9b31m"


def test_controls_and_bidi_are_spelled_out() -> None:
    """Nothing moves the cursor, turns text round or hides."""
    shown = plain(HOSTILE)
    assert "\\u001b]0;owned\\u0007" in shown
    assert "\\u202egnp.exe\\u200b" in shown
    assert "[bold red]x[/] :smile:" in shown
    assert shown.isprintable()


@given(st.text())
def test_all_text_becomes_one_printable_line(text: str) -> None:
    """Whatever it is."""
    assert plain(text).isprintable() or not text
    assert "\n" not in plain(text)


@pytest.mark.parametrize("text", ["Amaia Ibáñez", "Ωμέγα", "東京", "naïve", "9,99 €"])
def test_names_stay_as_they_are(text: str) -> None:
    """Other alphabets are no attack."""
    assert plain(text) == text


def test_long_text_and_piled_up_marks_are_cut_short() -> None:
    """Neither pushes the rest off the screen."""
    assert len(plain("x" * 9_999, most=100)) == 101
    assert "\\u0301" in plain("e" + "\u0301" * 40)


def test_hostile_text_in_the_ledger_is_harmless_in_tables(place: Place) -> None:
    """Reasons, names and dossiers are others' words."""
    done = place.outlive("brake", "on", "all", "--reason", HOSTILE.replace("\n", " "))
    assert done.code == 0
    told = place.outlive("brake", "list").out
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert "[bold red]x[/] :smile:" in told
    document = place.outlive("brake", "list", "--json")
    assert document.out.isascii()
    assert document.document["brakes"][0]["reason"] == HOSTILE.replace("\n", " ")

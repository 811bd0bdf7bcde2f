"""What `authorize` refuses: each with a stable code, what to do, and nothing half done."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.command_line import Answered, Place, refund


@pytest.fixture
def seeded(place: Place) -> Place:
    """Payments that a good batch could refund."""
    place.seed("ch_1", "ch_2")
    return place


def refused(place: Place, code: str, exit_code: int, run: Callable[[], Answered]) -> str:
    """Run a command that must be refused; returns its one line."""
    before = place.rows()
    answered = run()
    assert answered.err.startswith(f"error: {code}: "), answered.err
    assert answered.err.count("\n") == 1
    assert "Traceback" not in answered.err
    assert (answered.code, answered.out) == (exit_code, "")
    assert place.rows() == before
    return answered.err


PARAMETERS: dict[str, tuple[Any, str]] = {
    "an unknown field": (refund(colour="red"), "colour"),
    "a missing currency": ({"charge": "ch_2", "amount_minor": 1}, "currency"),
    "no target": ({"amount_minor": 1, "currency": "eur"}, "exactly one of charge"),
    "two targets": (refund("ch_2", payment_intent="pi_1"), "exactly one of charge"),
    "a target that is no id": (refund("../account"), "charge"),
    "an amount of 0": (refund("ch_2", 0), "greater than 0"),
    "a negative amount": (refund("ch_2", -5), "greater than 0"),
    "an amount as text": (refund("ch_2", "1000"), "amount_minor"),
    "an amount as true": (refund("ch_2", True), "amount_minor"),
    "an amount beyond twelve digits": (refund("ch_2", 10**12), "amount_minor"),
    "an unknown currency": (refund("ch_2", currency="xxx"), "xxx"),
    "a currency in capitals": (refund("ch_2", currency="EUR"), "currency"),
    "an unknown reason": (refund("ch_2", reason="because"), "reason"),
}


@pytest.mark.parametrize("wrong", PARAMETERS)
def test_wrong_parameters_name_item_and_field(seeded: Place, wrong: str) -> None:
    """The good item beside it is not stored either."""
    item, told = PARAMETERS[wrong]
    line = refused(seeded, "invalid_parameters", 2, lambda: seeded.authorize(refund("ch_1"), item))
    assert "item 2: " in line
    assert told in line
    assert "Nothing was stored" in line


LINES: dict[str, tuple[bytes, str]] = {
    "a float as money": (b'{"charge":"ch_2","amount_minor":12.5,"currency":"eur"}', "12.5"),
    "a float that is whole": (b'{"charge":"ch_2","amount_minor":1e3,"currency":"eur"}', "1e3"),
    "NaN": (b'{"charge":"ch_2","amount_minor":NaN,"currency":"eur"}', "NaN"),
    "a key twice": (b'{"charge":"ch_2","charge":"ch_1"}', "twice"),
    "broken JSON": (b'{"charge":"ch_2"', "not readable as JSON"),
    "no object": (b'["ch_2"]', "no JSON object"),
    "a NUL": (b'{"charge":"ch\\u0000_2"}', "NUL"),
    "a lone surrogate": (b'{"charge":"ch\\ud800_2"}', "canonical"),
    "no UTF-8": (b'{"charge":"ch\xff_2"}', "UTF-8"),
    "an integer beyond 2^53": (b'{"amount_minor":9007199254740993}', "2^53"),
    "nested too deep": (b"[" * 5_000 + b"]" * 5_000, "not readable as JSON"),
}


@pytest.mark.parametrize("wrong", LINES)
def test_an_unreadable_line_is_named(seeded: Place, wrong: str) -> None:
    """By its number in the file, empty lines counted."""
    line, told = LINES[wrong]
    said = refused(seeded, "invalid_input", 2, lambda: seeded.authorize(refund("ch_1"), b"", line))
    assert "line 3" in said
    assert told in said


def test_an_empty_file_and_a_missing_one_are_refused(seeded: Place) -> None:
    """Nothing to authorize is no success."""
    refused(seeded, "invalid_input", 2, lambda: seeded.authorize(b"", b"  "))
    given = ("--type", "stripe.refund", "--key", "k")
    missing = str(seeded.home / "nowhere.jsonl")
    line = refused(seeded, "invalid_input", 2, lambda: seeded.outlive("authorize", missing, *given))
    assert "No such file" in line


def test_an_unknown_type_lists_the_known_ones(seeded: Place) -> None:
    """So that a typing error is found at once."""
    batch = seeded.file(refund())
    line = refused(
        seeded,
        "unknown_type",
        2,
        lambda: seeded.outlive("authorize", batch, "--type", "stripe.refnud", "--key", "k"),
    )
    assert "stripe.refund" in line


def test_input_over_8_mib_is_refused(seeded: Place) -> None:
    """Before it is parsed."""
    lines = [json.dumps(refund(note="x" * 60_000)).encode()] * 150
    refused(seeded, "input_too_large", 2, lambda: seeded.authorize(*lines))


def test_an_item_over_64_kib_is_refused(seeded: Place) -> None:
    """Its line is named."""
    item = refund("ch_2", note="x" * 65_537)
    line = refused(seeded, "input_too_large", 2, lambda: seeded.authorize(refund("ch_1"), item))
    assert "line 2" in line


def test_10_001_items_are_refused(seeded: Place) -> None:
    """With the number that a batch may hold."""
    items = [json.dumps(refund(f"ch_{number}")).encode() for number in range(10_001)]
    line = refused(seeded, "input_too_large", 2, lambda: seeded.authorize(*items))
    assert "10,001 items" in line
    assert "10,000" in line


def test_a_target_twice_in_a_batch_is_refused_unless_declared(seeded: Place) -> None:
    """A repeat is a mistake until somebody says that it is meant."""
    twice = (refund("ch_1", 100), refund("ch_1", 200))
    line = refused(seeded, "repeated_target", 2, lambda: seeded.authorize(*twice))
    assert "--separate 2" in line
    assert seeded.authorize(*twice, more=("--separate", "2")).code == 0


def test_declaring_an_item_that_does_not_exist_is_refused(seeded: Place) -> None:
    """Numbers are of items, from 1."""
    refused(
        seeded,
        "invalid_input",
        2,
        lambda: seeded.authorize(refund(), more=("--separate", "2")),
    )


def test_a_changed_request_under_the_same_key_is_refused(seeded: Place) -> None:
    """The first stands."""
    assert seeded.authorize(refund("ch_1", 100), key="monday").code == 0
    line = refused(
        seeded, "key_reused", 1, lambda: seeded.authorize(refund("ch_1", 101), key="monday")
    )
    assert "monday" in line


def test_a_busy_target_is_refused_and_names_the_older_operation(seeded: Place) -> None:
    """Another key does not make it another refund."""
    first = seeded.authorize(refund("ch_1", 100), key="a").document["operations"][0]["id"]
    line = refused(seeded, "look_alike", 1, lambda: seeded.authorize(refund("ch_1", 100), key="b"))
    assert first in line
    assert "--separate" in line
    assert seeded.authorize(refund("ch_1", 100), key="b", more=("--separate", "1")).code == 0


@pytest.mark.parametrize("span", ["0s", "1", "-1h", "1.5h", "31d", "1h30m", "\u0661h"])
def test_a_length_of_time_that_is_none_is_refused(seeded: Place, span: str) -> None:
    """Nobody guesses a unit."""
    refused(seeded, "invalid_input", 2, lambda: seeded.authorize(refund(), more=("--valid", span)))


@pytest.mark.parametrize("name", ["", " ", "a\u202eb", "a\x1b[2J", "a\nb"])
def test_invisible_names_and_keys_are_refused(seeded: Place, name: str) -> None:
    """What stands in the history can be read there."""
    before = seeded.rows()
    for answered in (
        seeded.authorize(refund(), key=name),
        seeded.authorize(refund(), more=("--by", name)),
    ):
        assert answered.code == 2
        assert "\x1b" not in answered.err
    assert seeded.rows() == before


def test_bidi_text_in_a_parameter_is_spelled_out_in_the_error(seeded: Place) -> None:
    """The terminal shows what is there."""
    line = refused(
        seeded,
        "invalid_parameters",
        2,
        lambda: seeded.authorize(refund("ch_1", **{"\u202ecolour\x1b[2J": 1})),
    )
    assert "\\u202ecolour\\u001b[2J" in line

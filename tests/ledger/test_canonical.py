"""Case 19: equal means equal, whoever wrote it, and what would lose meaning is refused."""

import hashlib
import json
import random
from collections.abc import Sequence
from typing import Any, Final, cast

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from ledger.canonical import MAX_INTEGER, canonical, digest, digest_of_bytes, parse
from ledger.errors import InvalidInput

FULLWIDTH_AT: Final = "\uff20"
GRINNING: Final = "\U0001f600"
NFC: Final = "Am\u00e9lie"
NFD: Final = "Ame\u0301lie"

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-MAX_INTEGER, MAX_INTEGER) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


def shuffled(value: Any, chance: random.Random) -> Any:
    """The same value with the keys of every object in another order."""
    if isinstance(value, dict):
        items = list(cast("dict[str, Any]", value).items())
        chance.shuffle(items)
        return {key: shuffled(inner, chance) for key, inner in items}
    if isinstance(value, list):
        return [shuffled(inner, chance) for inner in cast("Sequence[Any]", value)]
    return value


def test_keys_are_ordered_by_utf16_units() -> None:
    """RFC 8785 3.2.3: the emoji's surrogates come before the full-width sign; Python differs."""
    keys = {FULLWIDTH_AT: 1, GRINNING: 2}
    assert canonical(keys) == f'{{"{GRINNING}":2,"{FULLWIDTH_AT}":1}}'.encode()
    assert sorted(keys) == [FULLWIDTH_AT, GRINNING]


def test_whole_numbers_only() -> None:
    """100 is an amount, 100.0 is none: it is refused rather than made equal."""
    assert canonical({"amount": 100}) == b'{"amount":100}'
    for text in ("100.0", "1e2", "100.00", "-0.0", "NaN", "Infinity", "-Infinity"):
        with pytest.raises(InvalidInput):
            parse(f'{{"amount": {text}}}')
    for value in (100.0, float("nan"), float("inf")):
        with pytest.raises(InvalidInput):
            canonical({"amount": [value]})


def test_two_spellings_of_a_name_are_two_inputs() -> None:
    """Nothing is normalised silently."""
    assert digest({"name": NFC}) != digest({"name": NFD})
    assert parse(canonical({"name": NFD})) == {"name": NFD}


@pytest.mark.parametrize(
    "value",
    [
        "a\x00b",
        {"a\x00b": 1},
        "\ud800",
        {"\udc00": 1},
        MAX_INTEGER + 1,
        -MAX_INTEGER - 1,
        10**400,
        {1: "a"},
        {None: 1},
        b"bytes",
        {1, 2},
        object(),
        [[[1.5]]],
    ],
    ids=repr,
)
def test_what_json_cannot_say_alike_to_all_is_refused(value: Any) -> None:
    """NUL, lone surrogates, huge integers, keys that are no text, other types."""
    with pytest.raises(InvalidInput):
        canonical(value)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '{"x": [{"a": 1, "\\u0061": 1}]}',
        "",
        "{",
        "[1,]",
        b"\xff\xfe",
        "[" * 100_000,
        '{"a": ' * 100_000,
        "1" * 5_000,
    ],
    ids=lambda text: repr(text[:20]),
)
def test_what_cannot_be_read_one_way_is_refused(text: str | bytes) -> None:
    """A key twice, cut text, another encoding, nesting without end, numbers without end."""
    with pytest.raises(InvalidInput):
        parse(text)


def test_the_largest_integers_pass() -> None:
    """Up to 2^53 - 1 every reader agrees."""
    for number in (MAX_INTEGER, -MAX_INTEGER):
        assert parse(canonical([number])) == [number]


def test_truth_is_not_one() -> None:
    """Python thinks them equal."""
    assert digest([True, False]) != digest([1, 0])


@pytest.mark.parametrize("text", [b'"\xed\xa0\x80"', '"\\ud800"', '{"\\udc00": 1}'])
def test_half_a_character_from_outside_gets_no_digest(text: str | bytes) -> None:
    """JSON can carry a lone surrogate; nothing that needs a digest can."""
    with pytest.raises(InvalidInput):
        digest(parse(text))


@pytest.mark.parametrize("depth", [700, 100_000])
def test_deep_nesting_is_refused_and_not_a_crash(depth: int) -> None:
    """Deeper than Python's stack, though `parse` may still have read it."""
    value: Any = []
    for _ in range(depth):
        value = [value]
    with pytest.raises(InvalidInput):
        canonical(value)


@given(JSON, st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(value: Any, chance: random.Random) -> None:
    """Equal values have one digest, however their objects were built."""
    assert digest(shuffled(value, chance)) == digest(value)


@given(JSON)
def test_the_canonical_form_is_stable(value: Any) -> None:
    """It reads as the same value, and its own canonical form is itself."""
    form = canonical(value)
    assert parse(form) == value
    assert canonical(parse(form)) == form
    assert digest(value) == digest_of_bytes(form) == hashlib.sha256(form).hexdigest()


@given(JSON, JSON)
def test_different_values_have_different_digests(one: Any, other: Any) -> None:
    """Compared as JSON, where `true` is not 1."""
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (digest(one) == digest(other)) is same


@given(JSON)
def test_the_fast_way_writes_what_the_library_writes(value: object) -> None:
    """ASCII is written by the standard library; the bytes are those of RFC 8785's library."""
    assert canonical(value) == rfc8785.dumps(cast("Any", value))


@given(st.recursive(st.text(st.characters(max_codepoint=127, exclude_characters="\x00")), st.lists))
def test_every_ascii_character_is_written_alike(value: object) -> None:
    """Control characters, quotes and DEL included."""
    assert canonical(value) == rfc8785.dumps(cast("Any", value))

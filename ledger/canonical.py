"""Canonical form and digests: SHA-256 over RFC 8785 (JCS), so that equal means equal.

Floats are refused everywhere: money is an integer, and 100 and 100.0 must not be two digests.
Strings are taken as they are; two Unicode spellings of a name are two inputs.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Final, cast

import rfc8785

from ledger.errors import InvalidInput
from ledger.model import Json

MAX_INTEGER: Final = 2**53 - 1
"""Beyond this, JSON readers disagree (RFC 8785 section 3.2.2.3)."""


_IN_ORDER: Final = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), check_circular=False
)

DEEPEST: Final = 64
"""How deep values may nest; requests of real agents stay below ten."""


def canonical(value: Json) -> bytes:
    """Return the canonical bytes of a JSON value.

    Raises:
        InvalidInput: A float, an integer beyond 2^53 - 1, a NUL, a lone surrogate, nested too
            deep, or no JSON.
    """
    _refuse_odd(value, ("$",), DEEPEST)
    try:
        text = _IN_ORDER.encode(value)
        # Beyond ASCII the two sort keys differently, and only there: the library is in pure
        # Python and took a third of a whole operation's time in this process.
        return text.encode() if text.isascii() else rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as error:
        raise InvalidInput(f"not canonical JSON: {error}") from error


def digest(value: Json) -> str:
    """SHA-256 of the canonical bytes, in hexadecimal."""
    return hashlib.sha256(canonical(value)).hexdigest()


def digest_of_bytes(data: bytes) -> str:
    """SHA-256 of bytes that are canonical already, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def parse(text: str | bytes) -> Json:
    """Read JSON from outside, refusing what would lose meaning on the way.

    Raises:
        InvalidInput: Not JSON, a float, a repeated key, NaN or Infinity.
    """
    try:
        return json.loads(
            text,
            parse_float=_no_float,
            parse_constant=_no_float,
            object_pairs_hook=_no_repeats,
        )
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"not readable as JSON: {error}") from error


def _no_float(literal: str) -> Json:
    raise InvalidInput(
        f"{literal} is not an integer; amounts are whole numbers of the provider's minor unit "
        "(12.34 EUR is 1234)"
    )


def _no_repeats(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise InvalidInput("a key stands twice in one object; say which one is meant")
    return found


def _refuse_odd(value: Json, path: tuple[str | int, ...], depth: int) -> None:
    match value:
        case str():
            if "\x00" in value:
                raise InvalidInput(f"{_told(path)} holds a NUL character")
        case bool() | None:
            pass
        case int():
            if abs(value) > MAX_INTEGER:
                raise InvalidInput(f"{_told(path)} is beyond 2^53 - 1")
        case float():
            raise InvalidInput(f"{_told(path)} is {value!r}, a float; use whole minor units")
        case dict() | list() | tuple():
            if depth == 0:
                raise InvalidInput(f"the input nests deeper than {DEEPEST} levels")
            _refuse_odd_inside(value, path, depth - 1)
        case _:
            raise InvalidInput(f"{_told(path)} is {type(value).__name__}, which JSON can't hold")


def _refuse_odd_inside(value: Json, path: tuple[str | int, ...], depth: int) -> None:
    if isinstance(value, dict):
        for key, inner in cast("Mapping[object, Json]", value).items():
            if not isinstance(key, str):
                raise InvalidInput(f"{_told(path)} has a key that is no text: {key!r}")
            if "\x00" in key:
                raise InvalidInput(f"{_told(path)} has a key that holds a NUL character")
            _refuse_odd(inner, (*path, key), depth)
    else:
        for index, inner in enumerate(cast("Sequence[Json]", value)):
            _refuse_odd(inner, (*path, index), depth)


def _told(path: tuple[str | int, ...]) -> str:
    """`$.items[3].amount`."""
    first, *rest = path
    return str(first) + "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in rest)

"""Reading typed parameters out of a request, refusing malformed ones before execution."""

from typing import Any, cast

from sandbox.errors import ApiError, Json

METADATA_KEYS_MAX = 50
METADATA_KEY_CHARS_MAX = 40
METADATA_VALUE_CHARS_MAX = 500
"""Limits of metadata. Source: https://docs.stripe.com/api/metadata"""

AMOUNT_MINOR_MAX = 99_999_999_999


def allow(params: Json, *names: str) -> None:
    """Refuse parameters that the endpoint does not know."""
    for name in params:
        if name not in {*names, "expand"}:
            raise ApiError.invalid(
                f"Received unknown parameter: {name}", param=name, code="parameter_unknown"
            )


def text(params: Json, name: str) -> str | None:
    """A string, or None if it was not given."""
    value = params.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise ApiError.invalid(f"Invalid string: {name}", param=name)
    return value


def texts(params: Json, name: str) -> list[str]:
    """A list of strings; empty if it was not given."""
    value: object = params.get(name, [])
    if not isinstance(value, list):
        raise ApiError.invalid(f"Invalid array: {name}", param=name)
    return [str(item) for item in cast("list[object]", value)]


def required(params: Json, name: str) -> str:
    """A string that must be there."""
    value = text(params, name)
    if value is None:
        raise ApiError.invalid(
            f"Missing required param: {name}.", param=name, code="parameter_missing"
        )
    return value


def choice(params: Json, name: str, options: set[str]) -> str | None:
    """One of `options`, or None if it was not given."""
    value = text(params, name)
    if value is not None and value not in options:
        wanted = ", ".join(sorted(options))
        raise ApiError.invalid(f"Invalid {name}: must be one of {wanted}", param=name)
    return value


def amount(params: Json, name: str = "amount") -> int | None:
    """A positive whole number of minor units, or None if it was not given."""
    value = text(params, name)
    if value is None:
        return None
    if not (value.isascii() and value.isdigit()):
        raise ApiError.invalid(
            f"Invalid integer: {value}", param=name, code="parameter_invalid_integer"
        )
    if not 1 <= int(value) <= AMOUNT_MINOR_MAX:
        raise ApiError.invalid(f"Invalid positive integer: {value}", param=name)
    return int(value)


def flag(params: Json, name: str) -> bool:
    """A boolean; False if it was not given."""
    value = choice(params, name, {"true", "false"})
    return value == "true"


def metadata(params: Json) -> dict[str, str] | None:
    """The metadata of a request, within Stripe's limits; None if it was not given.

    An empty value stands for "remove this key", as in Stripe's own update calls.
    """
    value: Any = params.get("metadata")
    if value is None:
        return None
    if value == "":
        return {}
    if not isinstance(value, dict):
        raise ApiError.invalid("Invalid metadata: must be a set of keys", param="metadata")
    pairs = cast("dict[str, Any]", value)
    if len(pairs) > METADATA_KEYS_MAX:
        raise ApiError.invalid(
            f"Metadata can have at most {METADATA_KEYS_MAX} keys", param="metadata"
        )
    for key, item in pairs.items():
        if len(key) > METADATA_KEY_CHARS_MAX:
            raise ApiError.invalid(
                f"Metadata keys have at most {METADATA_KEY_CHARS_MAX} characters: {key}",
                param="metadata",
            )
        if not isinstance(item, str) or len(item) > METADATA_VALUE_CHARS_MAX:
            raise ApiError.invalid(
                f"Metadata values are text of at most {METADATA_VALUE_CHARS_MAX} characters",
                param=f"metadata[{key}]",
            )
    return cast("dict[str, str]", pairs)


def merge_metadata(thing: Json, params: Json) -> None:
    """Apply the metadata of an update: set keys, drop emptied ones, or drop all."""
    given = metadata(params)
    if given is None:
        return
    if not given:
        thing["metadata"] = {}
        return
    merged = {**thing["metadata"], **given}
    thing["metadata"] = {key: value for key, value in merged.items() if value != ""}

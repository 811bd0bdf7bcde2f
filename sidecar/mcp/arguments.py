"""Reading a call's arguments, strictly. Pure.

Clients are told the schema and need not keep to it, so everything is checked here; what an item
holds is checked by its operation type.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast
from uuid import UUID

from ledger.errors import InvalidParameters
from ledger.model import Json

ITEMS_MOST: Final = 10_000
WORDS_MOST: Final = 4_000
REASON_MOST: Final = 2_000

Arguments = Mapping[str, Any]


def wanted(given: Arguments) -> tuple[list[Mapping[str, Json]], str | None]:
    """The items that are asked for, and why.

    Raises:
        InvalidParameters: They are neither one item nor several.
    """
    words = text(given, "words", WORDS_MOST)
    fields = {name: value for name, value in given.items() if name not in {"items", "words"}}
    if "items" not in given:
        return [fields], words
    if fields:
        problem = "stands beside `items`; give one item's fields or `items`, not both"
        raise InvalidParameters(dict.fromkeys(sorted(fields), problem))
    items = _listed(given["items"])
    if not 0 < len(items) <= ITEMS_MOST:
        raise InvalidParameters({"items": f"must be a list of 1 to {ITEMS_MOST:,} objects"})
    return [_object(item, number) for number, item in enumerate(items)], words


def proposal_id(given: Arguments) -> UUID:
    """The id that a call names.

    Raises:
        InvalidParameters: It is none.
    """
    try:
        return UUID(given.get("id", ""))
    except (ValueError, AttributeError, TypeError):
        problem = "must be a proposal_id or an operation_id from an earlier result"
        raise InvalidParameters({"id": problem}) from None


def whole(given: Arguments, name: str, most: int) -> int:
    """A whole number from 0; 0 where none is given.

    Raises:
        InvalidParameters: It is something else.
    """
    value = given.get(name, 0)
    if type(value) is not int or not 0 <= value <= most:
        raise InvalidParameters({name: f"must be a whole number from 0 to {most}"})
    return value


def text(given: Arguments, name: str, most: int) -> str | None:
    """A text; `None` where none is given.

    Raises:
        InvalidParameters: It is something else, or too long.
    """
    value = given.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > most or "\x00" in value:
        raise InvalidParameters({name: f"must be a text of at most {most:,} characters"})
    return value


def only(given: Arguments, known: Sequence[str]) -> None:
    """Refuse what nobody knows.

    Raises:
        InvalidParameters: Naming it.
    """
    strange = sorted(given.keys() - set(known))
    if strange:
        raise InvalidParameters({name[:80]: "is not known here" for name in strange})


def _listed(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _object(item: object, number: int) -> Mapping[str, Json]:
    if not isinstance(item, dict):
        raise InvalidParameters({f"items[{number}]": "must be an object"})
    return cast("Mapping[str, Json]", item)

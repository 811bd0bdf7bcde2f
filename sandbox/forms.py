"""Form encoding as Stripe's libraries write it: `metadata[order]=7`, `expand[]=charge`."""

import re
from typing import Any, cast
from urllib.parse import parse_qsl

from sandbox.errors import Json

_INNER = re.compile(r"\[([^\]]*)\]")


def decode(text: str) -> Json:
    """The nested parameters that `text` (a query or a form body) spells out.

    Only metadata has numbers for names; elsewhere they are places in a list.
    """
    result: Json = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        base, _, rest = name.partition("[")
        _place(result, [base, *_INNER.findall("[" + rest if rest else "")], value)
    return {name: value if name == "metadata" else _lists(value) for name, value in result.items()}


def canonical(text: str) -> tuple[tuple[str, str], ...]:
    """The same parameters in one order, to compare two requests by."""
    return tuple(sorted(parse_qsl(text, keep_blank_values=True)))


def _place(into: Json, path: list[str], value: str) -> None:
    for step in path[:-1]:
        below = into.setdefault(step or str(len(into)), {})
        if not isinstance(below, dict):
            return
        into = cast("Json", below)
    into[path[-1] or str(len(into))] = value


def _lists(value: Any) -> Any:
    """Turn mappings whose keys are 0, 1, 2, … into lists, at every depth."""
    if not isinstance(value, dict):
        return value
    mapping = {name: _lists(item) for name, item in cast("Json", value).items()}
    if mapping and list(mapping) == [str(index) for index in range(len(mapping))]:
        return list(mapping.values())
    return mapping

"""One form made from an operation type's schema, and back from what was typed. Pure.

Only what JSON Schema says about single fields is used; what spans several is said by the type when
the change is checked, before anything is stored.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

from ledger.model import Json


class Widget(StrEnum):
    """How a field is asked for."""

    TEXT = "text"
    WHOLE = "whole"
    """A whole number."""
    CHOICE = "choice"
    YES_NO = "yes_no"


@dataclass(frozen=True, slots=True)
class Field:
    """One parameter."""

    name: str
    about: str
    widget: Widget
    required: bool
    choices: tuple[str, ...] = ()


def fields_of(schema: Mapping[str, Any]) -> tuple[Field, ...]:
    """The fields of a type's parameters, required ones first."""
    required = set(schema.get("required", ()))
    properties: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
    found = [_field(name, each, required=name in required) for name, each in properties.items()]
    return tuple(sorted(found, key=lambda each: not each.required))


def typed_of(field: Field, value: Json) -> str:
    """A value as it stands in the form."""
    if value is None:
        return ""
    if field.widget is Widget.YES_NO:
        return "true" if value else "false"
    return str(value)


def value_of(field: Field, typed: str) -> Json:
    """A value from the form; `None`: left out.

    Raises:
        ValueError: It is no value of this kind.
    """
    text = typed.strip()
    if not text:
        return None
    match field.widget:
        case Widget.WHOLE:
            return int(text)
        case Widget.YES_NO:
            return {"true": True, "false": False}[text]
        case Widget.CHOICE | Widget.TEXT:
            return text


def _field(name: str, schema: Mapping[str, Any], *, required: bool) -> Field:
    kind = _kind(schema)
    choices = tuple(str(each) for each in kind.get("enum", ()))
    widget = Widget.TEXT
    if choices:
        widget = Widget.CHOICE
    elif kind.get("type") == "integer":
        widget = Widget.WHOLE
    elif kind.get("type") == "boolean":
        widget = Widget.YES_NO
    return Field(name, str(schema.get("description", "")), widget, required, choices)


def _kind(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a value is, where it may also be left out."""
    options = cast("list[Mapping[str, Any]]", schema.get("anyOf", [schema]))
    return next((each for each in options if each.get("type") != "null"), schema)

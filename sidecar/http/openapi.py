"""The OpenAPI 3.1 document, derived from the table: every parameter, answer and refusal. Pure."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from sidecar.access.roles import MAY
from sidecar.http.brakes import SCOPE
from sidecar.http.endpoint import Endpoint, Table
from sidecar.http.problems import (
    ANYWHERE,
    MEDIA_TYPE,
    SIGNED_IN,
    STATUS,
    WITH_BODY,
    ProblemView,
)

Document = dict[str, Any]

_REF: Final = "#/components/schemas/{model}"
_PATH_PARAMETER: Final = re.compile(r"{(\w+)}")
_PATH_SCHEMAS: Final[Mapping[str, Document]] = {
    "id": {"type": "string", "format": "uuid"},
    "scope": {"type": "string", "pattern": SCOPE},
}


def document(table: Table) -> Document:
    """Describe every endpoint of a table."""
    names, schemas = _schemas(table)
    paths: defaultdict[str, Document] = defaultdict(dict)
    for endpoint in table:
        paths[endpoint.path][endpoint.method.lower()] = _operation(endpoint, names)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Outlive",
            "version": version("outlive"),
            "description": "Operations that outlive the agents that asked for them.",
        },
        "paths": dict(paths),
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def codes_of(endpoint: Endpoint[Any, Any]) -> list[str]:
    """Every code that an endpoint may answer."""
    codes = [*ANYWHERE, "invalid_request", *endpoint.refuses]
    if endpoint.right is not None:
        codes += SIGNED_IN
    if endpoint.takes_body:
        codes += ("input_too_large",) if endpoint.raw else (*WITH_BODY, "invalid_input")
    if _PATH_PARAMETER.search(endpoint.path):
        codes.append("not_found")
    return list(dict.fromkeys(codes))


def _schemas(table: Table) -> tuple[Mapping[type[BaseModel], Document], Document]:
    inputs = {e.body for e in table if e.body.model_fields}
    outputs = {view for e in table for view in e.answers.values() if view is not None}
    wanted: list[tuple[type[BaseModel], JsonSchemaMode]] = [
        *((model, "validation") for model in sorted(inputs, key=lambda model: model.__name__)),
        *(
            (model, "serialization")
            for model in sorted(outputs | {ProblemView}, key=lambda model: model.__name__)
        ),
    ]
    by_model, definitions = models_json_schema(wanted, ref_template=_REF)
    named = {model: by_model[model, mode] for model, mode in wanted}
    return named, definitions["$defs"]


def _operation(endpoint: Endpoint[Any, Any], names: Mapping[type[BaseModel], Document]) -> Document:
    told: Document = {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "tags": [endpoint.path.split("/")[2] if endpoint.path.startswith("/v1/") else "health"],
        "parameters": [*_path(endpoint), *_headers(endpoint), *_query(endpoint)],
        "responses": {**_answers(endpoint, names), **_refusals(endpoint, names)},
        "security": [] if endpoint.right is None else [{"token": []}],
    }
    if endpoint.right is not None:
        roles = sorted(role.value for role, rights in MAY.items() if endpoint.right in rights)
        told["description"] = f"Roles: {', '.join(roles)}."
        told["x-outlive-roles"] = roles
    if endpoint.raw:
        told["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": {"type": "object"}}},
        }
    elif endpoint.takes_body:
        content: Document = {"schema": names[endpoint.body]}
        if endpoint.example is not None:
            content["example"] = dict(endpoint.example)
        told["requestBody"] = {"required": True, "content": {"application/json": content}}
    return told


def _path(endpoint: Endpoint[Any, Any]) -> Iterable[Document]:
    return (
        {"name": name, "in": "path", "required": True, "schema": _PATH_SCHEMAS[name]}
        for name in _PATH_PARAMETER.findall(endpoint.path)
    )


def _headers(endpoint: Endpoint[Any, Any]) -> Iterable[Document]:
    return (
        {
            "name": name,
            "in": "header",
            "required": False,
            "description": told,
            "schema": {"type": "string"},
        }
        for name, told in endpoint.headers.items()
    )


def _query(endpoint: Endpoint[Any, Any]) -> Iterable[Document]:
    schema = endpoint.query.model_json_schema(ref_template=_REF)
    inner: Document = schema.get("$defs", {})
    for name, field in schema.get("properties", {}).items():
        yield {
            "name": name,
            "in": "query",
            "required": False,
            "schema": _given(_inlined(field, inner)),
            **({"description": field["description"]} if "description" in field else {}),
        }


def _inlined(field: Document, inner: Document) -> Document:
    """A parameter's schema without references, since those would point into the query's own."""
    if "$ref" in field:
        named: Document = inner[field["$ref"].rpartition("/")[2]]
        return named
    if "anyOf" in field:
        return {**field, "anyOf": [_inlined(one, inner) for one in field["anyOf"]]}
    return field


def _given(field: Document) -> Document:
    """A parameter is left out, never null."""
    kinds = [one for one in field.get("anyOf", ()) if one.get("type") != "null"]
    return kinds[0] if len(kinds) == 1 else field


def _answers(endpoint: Endpoint[Any, Any], names: Mapping[type[BaseModel], Document]) -> Document:
    answers: Document = {}
    for status, view in endpoint.answers.items():
        answer: Document = {"description": _DESCRIBED.get(status, "Done."), **_told_by(status)}
        if view is not None:
            answer["content"] = {"application/json": {"schema": names[view]}}
        elif endpoint.text:
            answer["content"] = {kind: {"schema": {"type": "string"}} for kind in endpoint.text}
        answers[str(status)] = answer
    return answers


_DESCRIBED: Final = {
    200: "As it stands.",
    201: "Made, or come to its end.",
    202: "Taken in, not ended: it waits for a person, is being sent, or is in doubt. `result` says "
    "what to do; ask again at `Location`.",
}


_HEADERS: Final[Mapping[int, Mapping[str, str]]] = {
    202: {"Location": "Where to ask again.", "Retry-After": "After how many seconds."},
    401: {"WWW-Authenticate": "The scheme: Bearer."},
    405: {"Allow": "The methods that there are."},
    429: {"Retry-After": "After how many seconds."},
    503: {"Retry-After": "After how many seconds."},
}


def _told_by(status: int) -> Document:
    """The headers that an answer of this status has."""
    known = _HEADERS.get(status)
    if known is None:
        return {}
    schema = {"type": "string"}
    return {"headers": {n: {"description": told, "schema": schema} for n, told in known.items()}}


def _refusals(endpoint: Endpoint[Any, Any], names: Mapping[type[BaseModel], Document]) -> Document:
    by_status: defaultdict[int, list[str]] = defaultdict(list)
    for code in codes_of(endpoint):
        by_status[STATUS[code]].append(code)
    return {
        str(status): {
            "description": f"Refused: {', '.join(codes)}.",
            **_told_by(status),
            "content": {
                MEDIA_TYPE: {
                    "schema": names[ProblemView],
                    "examples": {code: {"value": _example(code, status)} for code in codes},
                }
            },
        }
        for status, codes in sorted(by_status.items())
    }


def _example(code: str, status: int) -> Document:
    return {
        "type": f"urn:outlive:problem:{code}",
        "title": "…",
        "status": status,
        "code": code,
        "detail": "What happened, and what to do.",
    }

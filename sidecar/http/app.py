"""The HTTP application: the table as Starlette routes, and an answer where there is none."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from sidecar.http.doors import Doors
from sidecar.http.endpoint import Table
from sidecar.http.guard import Handler, check_host, guarded
from sidecar.http.openapi import document
from sidecar.http.problems import Problem, response_to
from sidecar.http.table import ENDPOINTS

_JSON: Final = "application/json"


def application(
    doors: Doors, table: Table = ENDPOINTS, *, beside: Sequence[BaseRoute] = ()
) -> Starlette:
    """The application over these parts; `beside`: doors of another kind at the same address."""
    described = json.dumps(document(table)).encode()

    async def openapi(request: Request) -> Response:
        try:
            check_host(doors, request)
        except Problem as problem:
            return response_to(problem)
        return Response(described, media_type=_JSON)

    async def lost(_request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101  registered for it alone
        if error.status_code == 405:  # noqa: PLR2004  method not allowed
            headers = dict(error.headers or {})
            return response_to(
                Problem("method_not_allowed", "see GET /openapi.json", headers=headers)
            )
        return response_to(Problem("not_found", "there is nothing here; see GET /openapi.json"))

    return Starlette(
        routes=[
            *_routes(doors, table),
            Route("/openapi.json", openapi, methods=["GET"]),
            *beside,
        ],
        exception_handlers={HTTPException: lost},
    )


def _routes(doors: Doors, table: Table) -> list[Route]:
    """One route a path, so that a wrong method is told all the right ones."""
    handlers: defaultdict[str, dict[str, Handler]] = defaultdict(dict)
    for endpoint in table:
        handlers[endpoint.path][endpoint.method] = guarded(endpoint, doors)
    return [Route(path, _by_method(each), methods=list(each)) for path, each in handlers.items()]


def _by_method(handlers: Mapping[str, Handler]) -> Handler:
    async def handle(request: Request) -> Response:
        return await handlers["GET" if request.method == "HEAD" else request.method](request)

    return handle

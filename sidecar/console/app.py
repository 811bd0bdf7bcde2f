"""The console as routes beside the API: pages, acts, sign-in, style and script."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from sidecar.console import statics
from sidecar.console.acts import Acts
from sidecar.console.catalogs import say_in
from sidecar.console.door import Answer, done, guarded, opened
from sidecar.console.page import Page, Refused, Table
from sidecar.console.pages import sign_in
from sidecar.console.parts import Console
from sidecar.console.reader import reader_of
from sidecar.console.sessions import Sessions
from sidecar.console.table import PAGES
from sidecar.http.doors import Doors

_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def console_of(doors: Doors, *, sandboxed: bool, public_url: str | None) -> Console:
    """The parts of the console over the parts of the API."""
    pool = doors.ledger.pool
    return Console(doors, Sessions(pool), Acts(pool), sandboxed, public_url)


def routes(console: Console, table: Table = PAGES) -> list[BaseRoute]:
    """Everything under `/console`, and `/` for whoever types the bare address."""
    answers: defaultdict[str, dict[str, Answer]] = defaultdict(dict)
    for entry in table:
        path = f"/console{entry.path}"
        if isinstance(entry, Page):
            answers[path]["GET"] = opened(console, entry)
        else:
            answers[path]["POST"] = done(console, entry)
    answers.update(sign_in.answers(console))

    async def home(_request: Request) -> Response:
        return RedirectResponse("/console", 303)

    async def asset(request: Request) -> Response:
        async def work() -> Response:
            return await statics.serve(request)

        return await guarded(console, request, work)

    return [
        Route("/", home, methods=["GET"]),
        Route(f"{statics.PREFIX}/{{name}}", asset, methods=["GET"]),
        *(
            Route(path, _by_method(console, each), methods=list(_METHODS))
            for path, each in answers.items()
        ),
        Route("/console/{rest:path}", _by_method(console, {}), methods=list(_METHODS)),
    ]


def _by_method(console: Console, answers: Mapping[str, Answer]) -> Answer:
    """One route a path; where there is nothing, a page says so."""

    async def answer(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        found = answers.get(method)
        if found is not None:
            return await found(request)

        async def nothing() -> Response:
            language = reader_of(request).language
            if answers:
                raise Refused(
                    405,
                    say_in(language, "Nothing was done"),
                    say_in(language, "This page can't be used like that."),
                )
            raise Refused(
                404, say_in(language, "Not found"), say_in(language, "There is no such page.")
            )

        return await guarded(console, request, nothing)

    return answer

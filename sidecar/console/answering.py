"""What goes back to the browser: a page in its frame or without one, a file, a way on."""

import hashlib
from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ledger.postgres.snapshot import Snapshot
from sidecar.console.frame import read_frame
from sidecar.console.page import Call, Cookie, Handed, Refused, Shown, Went
from sidecar.console.parts import Console
from sidecar.console.reader import reader_of
from sidecar.console.templating import render


async def framed(
    console: Console, request: Request, call: Call, shown: Shown, now: Snapshot
) -> Response:
    """A page in its frame; 304 where a live page has no news."""
    frame = await read_frame(now, console.ledger_name, sandboxed=console.sandboxed)
    note(console, request, now)
    told = repr((shown.template, shown.title, shown.view, frame, call.reader, call.who))
    tag = f'W/"{hashlib.sha256(told.encode()).hexdigest()[:32]}"'
    headers = {**shown.headers, "etag": tag, "vary": "Cookie"}
    if shown.live and request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    values = {
        "view": shown.view,
        "title": shown.title,
        "nav": shown.nav,
        "live": shown.live,
        "call": call,
        "frame": frame,
        "reader": call.reader,
        "at": now.at,
    }
    return HTMLResponse(render(shown.template, call.reader.language, values), shown.status, headers)


def bare(console: Console, request: Request, shown: Shown) -> HTMLResponse:
    """A page without frame and session: sign-in, errors."""
    reader = reader_of(request)
    values = {
        "view": shown.view,
        "title": shown.title,
        "reader": reader,
        "ledger": console.ledger_name,
        "sandboxed": console.sandboxed,
    }
    return HTMLResponse(
        render(shown.template, reader.language, values), shown.status, dict(shown.headers)
    )


async def refusal(console: Console, request: Request, refused: Refused) -> Response:
    """The page that says why not. Shown without the frame: it must work where nothing else does."""
    shown = Shown("refused.html", refused.title, refused, status=refused.status)
    return bare(console, request, shown)


def note(console: Console, request: Request, now: Snapshot) -> None:
    """For tests: what was read for this page."""
    if console.seen is not None:
        console.seen.append((request.url.path, tuple(now.queries)))


def handed(file: Handed) -> Response:
    """A file; its name is ours, so it needs no quoting."""
    named = {"content-disposition": f'attachment; filename="{file.name}"', **file.headers}
    return Response(file.content, headers=named, media_type=file.media_type)


def went(console: Console, request: Request, result: Went) -> Response:
    """On to another page."""
    response = RedirectResponse(result.location, 303)
    for name, cookie in result.cookies.items():
        put(console, request, response, name, cookie)
    return response


def put(console: Console, request: Request, response: Response, name: str, cookie: Cookie) -> None:
    """Set a cookie, or take it away."""
    response.set_cookie(
        name,
        cookie.value or "",
        max_age=0 if cookie.value is None else cookie.lasts_s,
        path="/",
        secure=console.secure(request),
        httponly=True,
        samesite="strict" if cookie.same_site == "Strict" else "lax",
    )


def with_session(console: Console, request: Request, secret: str, location: str) -> Response:
    """Signed in: the cookie, and on."""
    cookie = Cookie(secret, lasts_s=7 * 86_400)
    return went(console, request, Went(location, {console.cookie_name(request): cookie}))


def cleared(session_cookie: str) -> Mapping[str, Cookie]:
    """The session's cookie, taken away."""
    return {session_cookie: Cookie(None)}

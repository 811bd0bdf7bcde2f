"""Who asks, whether they may, and what they posted."""

from typing import Final
from urllib.parse import parse_qs, quote, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sidecar.console.answering import bare
from sidecar.console.catalogs import say_in
from sidecar.console.page import Act, Call, Form, Page, Refused, Shown
from sidecar.console.parts import Console
from sidecar.console.reader import reader_of
from sidecar.console.sessions import Session

SIGN_IN: Final = "/console/sign-in"


async def call_of(console: Console, request: Request, wanted: Page | Act) -> Call | Response:
    """Who asks, and whether they may; or the answer for somebody who is not signed in."""
    reader = reader_of(request)
    url = _path(request.url.path, request.url.query)
    session = await session_of(console, request)
    if session is None:
        return _sign_in_first(console, request, url)
    call = Call(
        *(console.doors, session, reader, url),
        path=dict(request.path_params),
        query=dict(request.query_params),
        polled=request.headers.get("x-live") == "1",
    )
    wait_s = console.doors.buckets.take(session.who.token_id)
    if wait_s is not None:
        raise Refused(
            429,
            call.say("Too many requests"),
            call.say("Wait %(seconds)s s, then try again.", seconds=wait_s),
            back=place(request),
        )
    if not call.may(wanted.right):
        raise Refused(
            403,
            call.say("Nothing was done"),
            call.say(
                "Your role does not allow this: it needs another right (%(right)s).",
                right=wanted.right.value,
            ),
        )
    return call


def place(request: Request) -> str:
    """Where a person goes to try again: this page, or the page of ours that held the form.

    What a form is posted to is no page, and a link never posts.
    """
    if request.method in {"GET", "HEAD"}:
        return _path(request.url.path, request.url.query)
    try:
        held = urlsplit(request.headers.get("referer", ""))
    except ValueError:
        return "/console"
    ours = held.netloc == request.url.netloc and held.path.startswith("/console/")
    return _path(held.path, held.query) if ours else "/console"


def _path(path: str, query: str) -> str:
    return f"{path}?{query}" if query else path


def _sign_in_first(console: Console, request: Request, url: str) -> Response:
    """To the sign-in and back; what was posted is not replayed.

    A link in a message opens without the Strict cookie. One step from our own page brings it.
    """
    if request.headers.get("x-live") == "1":
        return Response(status_code=401)
    reading = request.method in {"GET", "HEAD"}
    if reading and request.headers.get("sec-fetch-site") == "cross-site":
        return bare(console, request, Shown("step.html", "", {"url": url}))
    back = url if reading else "/console"
    return RedirectResponse(f"{SIGN_IN}?next={quote(back, safe='')}", 303)


async def session_of(console: Console, request: Request) -> Session | None:
    """Whose cookie came along."""
    secret = request.cookies.get(console.cookie_name(request), "")
    by_person = request.headers.get("x-live") != "1"
    return await console.sessions.find(secret, by_person=by_person) if secret else None


def check_origin(request: Request) -> None:
    """Refuse a form of somebody else's page.

    Raises:
        Refused: It is, or does not say.
    """
    origin = request.headers.get("origin")
    same = request.headers.get("sec-fetch-site") in {None, "same-origin"}
    ours = origin is not None and origin.partition("://")[2] == request.headers.get("host")
    if not (ours and same):
        language = reader_of(request).language
        raise Refused(
            403,
            say_in(language, "Nothing was done"),
            say_in(language, "This form came from another page than ours."),
        )


async def form_of(request: Request, most_bytes: int) -> Form:
    """What was posted.

    Raises:
        Refused: Too long, or no form.
    """
    language = reader_of(request).language
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise Refused(
            415, say_in(language, "Nothing was done"), say_in(language, "This is no form.")
        )
    raw = bytearray()
    async for part in request.stream():
        raw += part
        if len(raw) > most_bytes:
            raise Refused(
                413,
                say_in(language, "Nothing was done"),
                say_in(language, "This form is too long."),
            )
    not_whole = Refused(
        422, say_in(language, "Nothing was done"), say_in(language, "This form was not whole.")
    )
    if b"%00" in raw or b"\0" in raw:  # no text of PostgreSQL's holds it
        raise not_whole
    try:
        values = parse_qs(raw.decode(), keep_blank_values=True, max_num_fields=20_000)
    except ValueError:
        raise not_whole from None
    return Form(values)


def safe_next(wanted: str) -> str:
    """Where to go after the sign-in: a page of ours, nowhere else."""
    parts = urlsplit(wanted)
    inside = wanted.startswith("/console") and not parts.scheme and not parts.netloc
    if not inside or "\\" in wanted or parts.path.startswith(SIGN_IN):
        return "/console"
    return wanted

"""What every request for a page passes, in one order: host, session, right, rate, form; the page.

Whatever goes wrong becomes a page that says what was not done.
"""

import hashlib
import hmac
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import parse_qs, quote, urlsplit
from uuid import UUID

from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ledger.errors import OutliveError
from ledger.postgres.snapshot import Snapshot, snapshot
from sidecar.console.acts import Acts
from sidecar.console.catalogs import say_in
from sidecar.console.frame import read_frame
from sidecar.console.headers import secured
from sidecar.console.page import Act, Call, Cookie, Form, Handed, Page, Refused, Shown, Went
from sidecar.console.reader import Reader
from sidecar.console.sessions import Session, Sessions
from sidecar.console.templating import render
from sidecar.http.doors import Doors
from sidecar.http.guard import check_host
from sidecar.http.problems import STATUS, Problem

SIGN_IN: Final = "/console/sign-in"
_NAME: Final = "outlive_session"
_REF_ALPHABET: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
_log = logging.getLogger(__name__)

Answer = Callable[[Request], Awaitable[Response]]


@dataclass(slots=True)
class Console:
    """The parts of the console, and what it is told at start."""

    doors: Doors
    sessions: Sessions
    acts: Acts
    sandboxed: bool
    public_url: str | None
    seen: list[tuple[str, tuple[str, ...]]] | None = None
    """Where tests count: each page that was read, with the names of its statements, in order."""

    @property
    def ledger_name(self) -> str:
        """Which ledger this is, to a person: the host it is known by, else the end of its id."""
        host = urlsplit(self.public_url or "").hostname
        return host or f"ledger …{str(self.doors.ledger.identity.ledger_id)[-8:]}"

    def secure(self, request: Request) -> bool:
        """Whether the browser came over HTTPS, here or at a proxy in front."""
        public = urlsplit(self.public_url or "")
        behind = public.scheme == "https" and public.netloc == request.headers.get("host")
        return behind or request.url.scheme == "https"

    def cookie_name(self, request: Request) -> str:
        """Over HTTPS the prefix keeps neighbours from planting one.

        Source: https://httpwg.org/http-extensions/draft-ietf-httpbis-rfc6265bis.html#name-cookie-name-prefixes
        """
        return f"__Host-{_NAME}" if self.secure(request) else _NAME


def reader_of(request: Request) -> Reader:
    """How whoever asks wants to read."""
    return Reader.of(request.cookies, request.headers.get("accept-language", ""))


def opened(console: Console, page: Page) -> Answer:
    """A page as Starlette calls it."""

    async def answer(request: Request) -> Response:
        async def work() -> Response:
            call = await _call(console, request, page)
            if isinstance(call, Response):
                return call
            if page.gather is not None:
                call = replace(call, gathered=await page.gather(call))
            async with snapshot(console.doors.ledger.pool) as now:
                result = await page.show(call, now)
                if isinstance(result, Went):
                    return went(console, request, result)
                if isinstance(result, Handed):
                    _note(console, request, now)
                    return _handed(result)
                return await _page(console, request, call, result, now)

        return await guarded(console, request, work)

    return answer


def done(console: Console, act: Act) -> Answer:
    """An act as Starlette calls it."""

    async def answer(request: Request) -> Response:
        async def work() -> Response:
            call = await _call(console, request, act)
            if isinstance(call, Response):
                return call
            form = await form_of(request, act.most_bytes)
            check_origin(request)
            if not hmac.compare_digest(form.text("csrf"), call.session.csrf):
                raise Refused(
                    403,
                    call.say("Nothing was done"),
                    call.say("This form belongs to a session that ended. Load the page again."),
                    back=call.url,
                )
            return await _once(console, request, call, act, form)

        return await guarded(console, request, work)

    return answer


async def _once(console: Console, request: Request, call: Call, act: Act, form: Form) -> Response:
    """Do it, unless it came before."""
    path, session_id = request.url.path, call.session.id
    try:
        act_id = UUID(form.text("act"))
    except ValueError:
        raise Refused(
            422, call.say("Nothing was done"), call.say("This form was not whole.")
        ) from None
    if not await console.acts.begin(session_id, act_id, path):
        led_to = await console.acts.outcome(session_id, act_id, path)
        if led_to is None:
            raise Refused(
                409,
                call.say("Not known yet"),
                call.say("The same form arrived before and is still being worked on. Look again."),
            )
        return went(console, request, Went(led_to))
    try:
        result = await act.do(call, form)
    except BaseException:
        await console.acts.undo(session_id, act_id)
        raise
    if isinstance(result, Went):
        await console.acts.end(session_id, act_id, result.location)
        return went(console, request, result)
    await console.acts.undo(session_id, act_id)
    async with call.reading() as now:
        return await _page(console, request, call, result, now)


async def _call(console: Console, request: Request, wanted: Page | Act) -> Call | Response:
    """Who asks, and whether they may; or the answer for somebody who is not signed in."""
    reader = reader_of(request)
    url = request.url.path + (f"?{request.url.query}" if request.url.query else "")
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
            back=url,
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


def _sign_in_first(console: Console, request: Request, url: str) -> Response:
    """To the sign-in and back; what was posted is not replayed.

    A link in a message opens without the Strict cookie. One step from our own page brings it.
    """
    reading = request.method in {"GET", "HEAD"}
    if request.headers.get("x-live") == "1":
        return Response(status_code=401)
    if reading and request.headers.get("sec-fetch-site") == "cross-site":
        return bare(console, request, Shown("step.html", "", {"url": url}))
    back = url if reading else "/console"
    return RedirectResponse(f"{SIGN_IN}?next={quote(back, safe='')}", 303)


async def session_of(console: Console, request: Request) -> Session | None:
    """Whose cookie came along."""
    secret = request.cookies.get(console.cookie_name(request), "")
    return await console.sessions.find(secret) if secret else None


def check_origin(request: Request) -> None:
    """Refuse a form of somebody else's page.

    Raises:
        Refused: It is, or does not say.
    """
    origin = request.headers.get("origin")
    same = request.headers.get("sec-fetch-site") in {None, "same-origin"}
    ours = origin is not None and urlsplit(origin).netloc == request.headers.get("host")
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
    try:
        values = parse_qs(raw.decode(), keep_blank_values=True, max_num_fields=20_000)
    except ValueError:
        raise Refused(
            422, say_in(language, "Nothing was done"), say_in(language, "This form was not whole.")
        ) from None
    return Form(values)


async def guarded(
    console: Console, request: Request, work: Callable[[], Awaitable[Response]]
) -> Response:
    """Run the work; whatever goes wrong becomes a page."""
    try:
        check_host(console.doors, request)
        response = await work()
    except Problem as problem:
        response = Response(
            problem.detail, problem.status or STATUS[problem.code], media_type="text/plain"
        )
    except Refused as refused:
        response = await refusal(console, request, refused)
    except OutliveError as error:
        response = await refusal(
            console, request, _refused(reader_of(request), error, request.url.path)
        )
    except ClientDisconnect:
        response = Response(status_code=400)  # nobody reads it
    except Exception:  # noqa: BLE001  the last place where a person can be told
        ref = "".join(secrets.choice(_REF_ALPHABET) for _ in range(4))
        _log.exception("console %s %s ref %s", request.method, request.url.path, ref)
        reader = reader_of(request)
        told = say_in(reader.language, "Outlive could not answer (ref %(ref)s).", ref=ref)
        text = say_in(reader.language, "What was acknowledged before stands. The log says more.")
        response = await refusal(console, request, Refused(500, told, text, request.url.path))
    return secured(response, secure=console.secure(request))


def _refused(reader: Reader, error: OutliveError, path: str) -> Refused:
    """One of our own errors as a page."""
    status = STATUS.get(error.code, 409)
    titles = {
        404: say_in(reader.language, "Not found"),
        503: say_in(reader.language, "Outlive could not answer"),
    }
    title = titles.get(status) or say_in(reader.language, "Nothing was done")
    return Refused(status, title, str(error), back=path)


async def refusal(console: Console, request: Request, refused: Refused) -> Response:
    """The page that says why not. Shown without the frame: it must work where nothing else does."""
    shown = Shown("refused.html", refused.title, refused, status=refused.status)
    return bare(console, request, shown)


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


async def _page(
    console: Console, request: Request, call: Call, shown: Shown, now: Snapshot
) -> Response:
    """A page in its frame; 304 where a live page has no news."""
    frame = await read_frame(now, console.ledger_name, sandboxed=console.sandboxed)
    _note(console, request, now)
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


def _note(console: Console, request: Request, now: Snapshot) -> None:
    """For tests: what was read for this page."""
    if console.seen is not None:
        console.seen.append((request.url.path, tuple(now.queries)))


def _handed(file: Handed) -> Response:
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


def safe_next(wanted: str) -> str:
    """Where to go after the sign-in: a page of ours, nowhere else."""
    parts = urlsplit(wanted)
    inside = wanted.startswith("/console") and not parts.scheme and not parts.netloc
    if not inside or "\\" in wanted or parts.path.startswith(SIGN_IN):
        return "/console"
    return wanted


def cleared(session_cookie: str) -> Mapping[str, Cookie]:
    """The session's cookie, taken away."""
    return {session_cookie: Cookie(None)}

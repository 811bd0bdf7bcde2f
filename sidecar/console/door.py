"""What every request for a page passes, in one order: host, session, right, rate, form; the page.

Whatever goes wrong becomes a page that says what was not done.
"""

import hmac
import logging
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final
from uuid import UUID

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from ledger.errors import OutliveError
from ledger.postgres.snapshot import snapshot
from sidecar.console.answering import framed, handed, note, refusal, went
from sidecar.console.arrival import SIGN_IN, call_of, check_origin, form_of, place
from sidecar.console.catalogs import say_in
from sidecar.console.headers import secured
from sidecar.console.page import Act, Call, Form, Handed, Page, Refused, Went
from sidecar.console.parts import Console
from sidecar.console.reader import Reader, reader_of
from sidecar.http.guard import check_host
from sidecar.http.problems import STATUS, Problem
from sidecar.plain import plain

_REF_ALPHABET: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
_log = logging.getLogger(__name__)

Answer = Callable[[Request], Awaitable[Response]]


def opened(console: Console, page: Page) -> Answer:
    """A page as Starlette calls it."""

    async def answer(request: Request) -> Response:
        async def work() -> Response:
            call = await call_of(console, request, page)
            if isinstance(call, Response):
                return call
            if page.gather is not None:
                call = replace(call, gathered=await page.gather(call))
            async with snapshot(console.doors.ledger.pool) as now:
                result = await page.show(call, now)
                if isinstance(result, Went):
                    return went(console, request, result)
                if isinstance(result, Handed):
                    note(console, request, now)
                    return handed(result)
                return await framed(console, request, call, result, now)

        return await guarded(console, request, work)

    return answer


def done(console: Console, act: Act) -> Answer:
    """An act as Starlette calls it."""

    async def answer(request: Request) -> Response:
        async def work() -> Response:
            call = await call_of(console, request, act)
            if isinstance(call, Response):
                return call
            form = await form_of(request, act.most_bytes)
            check_origin(request)
            if not hmac.compare_digest(form.text("csrf").encode(), call.session.csrf.encode()):
                raise Refused(
                    403,
                    call.say("Nothing was done"),
                    call.say("This form belongs to a session that ended. Load the page again."),
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
        return await framed(console, request, call, result, now)


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
            console, request, _refused(reader_of(request), error, place(request))
        )
    except ClientDisconnect:
        response = Response(status_code=400)  # nobody reads it
    except Exception:  # noqa: BLE001  the last place where a person can be told
        ref = "".join(secrets.choice(_REF_ALPHABET) for _ in range(4))
        _log.exception("console %s %s ref %s", request.method, _logged(request), ref)
        reader = reader_of(request)
        told = say_in(reader.language, "Outlive could not answer (ref %(ref)s).", ref=ref)
        text = say_in(reader.language, "What was acknowledged before stands. The log says more.")
        response = await refusal(console, request, Refused(500, told, text, place(request)))
    return secured(response, secure=console.secure(request))


def _logged(request: Request) -> str:
    """The path on one line, without what a sign-in link keeps secret."""
    path: str = request.scope["path"]
    return f"{SIGN_IN}/…" if path.startswith(f"{SIGN_IN}/") else plain(path)


def _refused(reader: Reader, error: OutliveError, back: str) -> Refused:
    """One of our own errors as a page."""
    status = STATUS.get(error.code, 409)
    titles = {
        404: say_in(reader.language, "Not found"),
        503: say_in(reader.language, "Outlive could not answer"),
    }
    title = titles.get(status) or say_in(reader.language, "Nothing was done")
    return Refused(status, title, str(error), back=back)

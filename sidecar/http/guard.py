"""What every request passes, in one order: host, token, role, rate, query, body; then the work.

Whatever goes wrong on the way is a problem with a stable code; nothing is half done, since
nothing has begun.
"""

import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from dispatcher.prepare import MAX_INPUT_BYTES
from ledger.canonical import parse
from ledger.errors import OutliveError
from sidecar.access.roles import Who
from sidecar.http.doors import Doors
from sidecar.http.endpoint import Call, Endpoint, Reply
from sidecar.http.models import NoBody, Query
from sidecar.http.problems import Problem, problem_of, response_to

_DRAINED_MOST: Final = 2 * MAX_INPUT_BYTES
"""How much of a body that is too large is read and thrown away, so that its sender hears why."""
_HEADERS: Final = (
    ("cache-control", "no-store"),
    ("x-content-type-options", "nosniff"),
)
_log = logging.getLogger(__name__)

Model = TypeVar("Model", bound=BaseModel)
Handler = Callable[[Request], Awaitable[Response]]


def guarded(endpoint: Endpoint[Any, Any], doors: Doors) -> Handler:
    """The endpoint as Starlette calls it."""

    async def answer(request: Request) -> Response:
        began = time.monotonic()
        try:
            response = _response(await _answered(endpoint, doors, request))
        except Problem as problem:
            response = response_to(problem)
        except OutliveError as error:
            response = response_to(problem_of(error))
        except ClientDisconnect:
            response = Response(status_code=400)  # nobody reads it
        except Exception:  # noqa: BLE001  the last place where a caller can be told
            _log.exception("%s %s", endpoint.method, endpoint.path)
            response = response_to(
                Problem("unexpected", "a bug of ours; what was acknowledged stands. See the log.")
            )
        for name, value in _HEADERS:
            response.headers[name] = value
        seconds = time.monotonic() - began
        doors.measures.answered(request.method, endpoint.path, response.status_code, seconds)
        return response

    return answer


async def _answered(endpoint: Endpoint[Any, Any], doors: Doors, request: Request) -> Reply:
    check_host(doors, request)
    caller = None if endpoint.right is None else await _caller(endpoint, doors, request)
    query = _query(endpoint.query, request)
    raw, body = await _body(endpoint, request)
    call = Call(
        doors=doors,
        caller=caller,
        query=query,
        body=body,
        path=dict(request.path_params),
        headers=request.headers,
        raw=raw,
    )
    return await endpoint.handler(call)


def check_host(doors: Doors, request: Request) -> None:
    """Refuse a name that is not ours: a page elsewhere may have pointed its own at us.

    Raises:
        Problem: It is none of ours.
    """
    host = request.headers.get("host", "").lower()
    name = host.rpartition(":")[0] if ":" in host.rpartition("]")[2] else host
    if name not in doors.hosts:
        raise Problem(
            "host_refused", "this server is not known under that name; see OUTLIVE_HTTP_HOSTS"
        )


async def _caller(endpoint: Endpoint[Any, Any], doors: Doors, request: Request) -> Who:
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    who = await doors.tokens.find(secret.strip()) if scheme.lower() == "bearer" else None
    if who is None:
        raise Problem(
            "unauthenticated",
            "send `Authorization: Bearer outlive_…`; the token is missing, unknown, expired or "
            "revoked. `outlive token create` makes one.",
            headers={"WWW-Authenticate": 'Bearer realm="outlive"'},
        )
    wait_s = doors.buckets.take(who.token_id)
    if wait_s is not None:
        raise Problem(
            "rate_limited",
            "too many requests with this token; wait, then repeat the same request",
            headers={"Retry-After": str(wait_s)},
        )
    if endpoint.right is not None and not who.may(endpoint.right):
        raise Problem(
            "forbidden",
            f"{who.role.value} tokens may not {endpoint.right.value}; nothing was done",
        )
    return who


def _query(model: type[Query], request: Request) -> Query:
    given: dict[str, Any] = {}
    for name, value in request.query_params.multi_items():
        if name in given:
            raise Problem("invalid_request", "a parameter stands twice", {name[:80]: "given twice"})
        given[name] = value
    return _checked(model, lambda: model.model_validate(given))


async def _body(endpoint: Endpoint[Any, Any], request: Request) -> tuple[bytes, BaseModel]:
    if not endpoint.takes_body:
        return b"", NoBody()
    raw = await _read(request)
    if endpoint.raw:
        return raw, NoBody()
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Problem("unsupported_media_type", "send the body as application/json")
    parse(raw)  # refuses floats, repeated keys and what is no JSON
    model: type[BaseModel] = endpoint.body
    return raw, _checked(model, lambda: model.model_validate_json(raw))


async def _read(request: Request) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size <= MAX_INPUT_BYTES:
            parts.append(part)
        elif size > _DRAINED_MOST:
            break
    if size > MAX_INPUT_BYTES:
        raise Problem(
            "input_too_large",
            f"a body has at most {MAX_INPUT_BYTES:,} bytes; split it. Nothing was stored.",
        )
    return b"".join(parts)


def _checked(model: type[Model], validate: Callable[[], Model]) -> Model:
    try:
        return validate()
    except ValidationError as error:
        errors = {
            ".".join(str(part)[:80] for part in item["loc"]) or "body": item["msg"]
            for item in error.errors(include_input=False, include_url=False)
        }
        kind = "query" if issubclass(model, Query) else "body"
        raise Problem(
            "invalid_request", f"the {kind} does not fit; nothing was done. Correct it.", errors
        ) from None


def _response(reply: Reply) -> Response:
    if reply.text is not None:
        content = reply.text.encode()
    else:
        content = b"" if reply.view is None else reply.view.model_dump_json().encode()
    response = Response(content, reply.status, dict(reply.headers))
    if content or reply.text is not None:  # a list without an entry is a file all the same
        response.headers["content-type"] = reply.media_type
    return response

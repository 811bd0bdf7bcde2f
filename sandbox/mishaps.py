"""What each fault makes of an answer."""

import json
from collections.abc import Callable
from dataclasses import replace
from email.utils import formatdate
from typing import Final

from sandbox.errors import ApiError, Json
from sandbox.faults import Fault, Name
from sandbox.wire import Delivery, Response

Headers = tuple[tuple[str, str], ...]

_DELIVERIES: Final = {
    Name.HANG: Delivery.HANG,
    Name.RESET: Delivery.RESET,
    Name.CLOSE: Delivery.CLOSE,
    Name.CUT_BODY: Delivery.CUT_BODY,
    Name.RESET_BODY: Delivery.RESET_BODY,
}
_JSON = ("Content-Type", "application/json")
_HTML = ("Content-Type", "text/html")
_PAGE = b"<html><head><title>Error</title></head><body><h1>Something went wrong</h1></body></html>"
_STUB = b'{"id": "re_0000000000000000", "object": "refund", "amount": 0, "status": "pending"}'

_PAGES: Final = {Name.HTML: 200, Name.ERROR_502: 502, Name.ERROR_503: 503, Name.ERROR_504: 504}
"""Faults that answer with a web page, as a gateway would, and their status."""

_BODIES: Final[dict[Name, Callable[[bytes, Fault], bytes]]] = {
    Name.TRUNCATED: lambda body, _: body[: len(body) // 2],
    Name.EMPTY_OBJECT: lambda _body, _: b"{}",
    Name.EMPTY_BODY: lambda _body, _: b"",
    Name.OVERSIZED: lambda body, fault: body.ljust(fault.size),
}

_BROKEN = ApiError(500, "An unexpected error occurred.", kind="api_error")
_REFUSALS: Final = {
    Name.ERROR_500: _BROKEN,
    Name.ERROR_500_ROLLED_BACK: _BROKEN,
    Name.ERROR_500_LATE_EFFECT: _BROKEN,
    Name.CONFLICT_409: ApiError(
        409,
        "Another request with this idempotency key is still being processed.",
        code="idempotency_key_in_use",
    ),
    Name.RATE_LIMIT_429: ApiError(429, "Too many requests.", code="rate_limit"),
    Name.LOCK_TIMEOUT_429: ApiError(
        429, "The object is locked by another request.", code="lock_timeout"
    ),
    Name.DEPENDENCY_424: ApiError(424, "A system that we depend on failed.", kind="api_error"),
    Name.UNAUTHORIZED_401: ApiError(401, "Expired API key: sk_***", code="api_key_expired"),
    Name.FORBIDDEN_403: ApiError(403, "The key lacks the permission for this endpoint."),
}


def document(status: int, body: Json, headers: Headers = ()) -> Response:
    """A JSON answer."""
    return Response(status, json.dumps(body, indent=2).encode(), (_JSON, *headers))


def refusal(error: ApiError, headers: Headers = ()) -> Response:
    """An error as an answer."""
    return document(error.status, error.body(), headers)


def disturb(fault: Fault, answer: Response | None, now: float) -> Response:
    """What the client gets instead of `answer`; None means that there has been none."""
    whole = answer or Response(200, _STUB, (_JSON,))
    if fault.name in _DELIVERIES:
        return replace(whole, delivery=_DELIVERIES[fault.name])
    if fault.name in _PAGES:
        return Response(_PAGES[fault.name], _PAGE, (_HTML,))
    if fault.name in _REFUSALS:
        return refusal(_REFUSALS[fault.name], _hints(fault))
    match fault.name:
        case Name.ANSWER:
            return Response(fault.status, fault.body.encode(), (_JSON,))
        case Name.REDIRECT_307:
            return Response(307, b"", (("Location", fault.location),))
        case _:
            return _spoiled(fault, whole, now)


def _spoiled(fault: Fault, whole: Response, now: float) -> Response:
    """The answer with another body or date, or untouched: slowness leaves no trace in it."""
    if fault.name in _BODIES:
        return replace(whole, body=_BODIES[fault.name](whole.body, fault))
    if fault.name is Name.DATE_SKEW:
        wrong = ("Date", formatdate(now + fault.skew_s, usegmt=True))
        return replace(whole, headers=(*whole.headers, wrong))
    return whole


def _hints(fault: Fault) -> Headers:
    """The headers that tell a client whether and when to try again."""
    if fault.name is Name.RATE_LIMIT_429 and fault.retry_after_s is not None:
        return (("Retry-After", str(fault.retry_after_s)),)
    if fault.name is Name.LOCK_TIMEOUT_429:
        return (("Stripe-Should-Retry", "true"),)
    if _REFUSALS[fault.name].status == _BROKEN.status:
        return (("Stripe-Should-Retry", "false"),)
    return ()

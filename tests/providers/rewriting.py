"""Requests that something changes on their way out, and how it shows that none was sent."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import httpx
import pytest

from ledger.model import Answer, Outcome

SDK: Any = importlib.import_module("stripe._api_requestor")


def not_sent(answer: Answer, code: str) -> None:
    """The attempt is proven to have had no effect, and says why."""
    assert (answer.outcome, answer.code) == (Outcome.NOT_SENT, code)
    assert (answer.http_status, answer.request_id) == (None, None)


def rewrite_in_the_sdk(patch: pytest.MonkeyPatch) -> None:
    """The SDK encodes another amount than was decoded for it."""
    encode = SDK._api_encode

    def other(data: Mapping[str, Any]) -> Any:
        return [(name, "1" if name == "amount" else value) for name, value in encode(data)]

    patch.setattr(SDK, "_api_encode", other)


def rewrite_a_header(name: str, value: str | None) -> Callable[[pytest.MonkeyPatch], None]:
    """The SDK sets a header differently."""

    def rewrite(patch: pytest.MonkeyPatch) -> None:
        kind = SDK._APIRequestor
        headers = kind.request_headers

        def other(*args: Any) -> dict[str, str]:
            found: dict[str, str] = headers(*args)
            changed: dict[str, str | None] = {**found, name: value}
            return {key: text for key, text in changed.items() if text is not None}

        patch.setattr(kind, "request_headers", other)

    return rewrite


def rewrite_on_the_wire(patch: pytest.MonkeyPatch, **changed: Any) -> None:
    """Something below the SDK replaces a part of the request."""
    handle = httpx.AsyncHTTPTransport.handle_async_request

    async def other(self: httpx.AsyncHTTPTransport, request: httpx.Request) -> httpx.Response:
        parts: dict[str, Any] = {
            "method": request.method,
            "url": request.url,
            "content": request.content,
            "extensions": request.extensions,
            **changed,
        }
        headers = [item for item in request.headers.raw if item[0].lower() != b"content-length"]
        again = httpx.Request(headers=headers, **parts)
        return await handle(self, again)

    patch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", other)

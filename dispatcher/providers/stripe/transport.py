"""The SDK's HTTP client, on httpx: bounded in time and size, and the last look before bytes leave.

The SDK has an httpx client of its own, but it has no total time, reads without bound and takes
no transport. This one also knows, for every failure, whether a byte of the request may have
left. It uses httpx's transport without its client: no redirects, cookies, proxies or .netrc.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Final

import httpcore
import httpx
import stripe

MAX_BODY_BYTES: Final = 8 * 1024 * 1024
"""More than a hundred refunds with full metadata; what is longer is no answer of Stripe's."""

_CONNECTED: Final = "connection.connect_tcp.complete"
_CONNECTING: Final = "connection."
"""How httpcore's trace events begin until a connection stands.

Source: https://www.encode.io/httpcore/extensions/#trace
"""


class Held(Exception):
    """A guard let nothing out."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(why)
        self.code = code


class TooLarge(Exception):
    """The answer is longer than any real one."""


class CallFailed(stripe.APIConnectionError):
    """No whole answer came. `left` says whether a byte of the request may have left."""

    def __init__(self, code: str, why: str, *, left: bool) -> None:
        super().__init__(  # type: ignore[no-untyped-call]  # pyright: ignore[reportUnknownMemberType]  the SDK's own is untyped
            why, code=code, should_retry=False
        )
        self.reason = code
        self.left = left


Guard = Callable[[httpcore.Request], Awaitable[None]]
"""Looks at a request in the moment before its first byte, and raises `Held` to stop it."""

_BEFORE: Final = (Held, httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
"""Failures that are possible before the first byte only."""


_CODES: Final = (
    (httpx.PoolTimeout, "pool_timeout", "no connection came free in time"),
    (httpx.ConnectTimeout, "connect_timeout", "the connection did not come about in time"),
    (TimeoutError, "call_timeout", "no whole answer came in time"),
    (httpx.TimeoutException, "call_timeout", "no whole answer came in time"),
    (httpx.TransportError, "connection_lost", "the connection broke before a whole answer came"),
    (TooLarge, "response_too_large", f"the answer is longer than {MAX_BODY_BYTES} bytes"),
)


def open_pool(*, tcp_user_timeout_s: float, ca_file: str | None) -> httpx.AsyncHTTPTransport:
    """Connections to the provider, shared by all calls of a credential."""
    option: int | None = getattr(socket, "TCP_USER_TIMEOUT", None)
    timeout_ms = round(tcp_user_timeout_s * 1000)
    return httpx.AsyncHTTPTransport(
        verify=True if ca_file is None else ssl.create_default_context(cafile=ca_file),
        trust_env=False,
        limits=httpx.Limits(max_connections=1000, max_keepalive_connections=50),
        socket_options=[] if option is None else [(socket.IPPROTO_TCP, option, timeout_ms)],
    )


class Wire(stripe.HTTPClient):
    """One call on a shared pool. After it, `left`, `status` and `headers` tell what happened."""

    name = "httpx"

    def __init__(
        self, pool: httpx.AsyncHTTPTransport, guard: Guard, *, connect_s: float, call_s: float
    ) -> None:
        super().__init__()  # pyright: ignore[reportUnknownMemberType]  the SDK's own is untyped
        self._pool = pool
        self._guard = guard
        self._times = httpx.Timeout(call_s, connect=connect_s, pool=connect_s)
        self._call_s = call_s
        self._connecting = False
        self._held = False
        self._opened: httpcore.AsyncNetworkStream | None = None
        """Kept to be closed: httpcore forgets it when cancelled in the middle of TLS."""
        self.left = False
        self.status: int | None = None
        self.headers: Mapping[str, str] = {}

    async def request_async(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        post_data: str | None = None,
    ) -> tuple[bytes, int, Mapping[str, str]]:
        """Carry one request, once.

        Raises:
            CallFailed: Whatever went wrong; cancellation passes through.
        """
        request = httpx.Request(
            method.upper(),
            url,
            headers={**headers, "Accept-Encoding": "identity"},
            content=None if post_data is None else post_data.encode(),
            extensions={"trace": self._trace, "timeout": self._times.as_dict()},
        )
        try:
            async with asyncio.timeout(self._call_s):
                return await self._exchange(request)
        except Exception as error:
            self.left = self.left or not self._surely_before(error)
            raise CallFailed(*_told(error, left=self.left), left=self.left) from error

    async def _exchange(self, request: httpx.Request) -> tuple[bytes, int, Mapping[str, str]]:
        try:
            response = await self._pool.handle_async_request(request)
        except BaseException:
            if self._opened is not None:
                await self._opened.aclose()
            raise
        self.left = True
        self.status, self.headers = response.status_code, response.headers
        body = bytearray()
        try:
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > MAX_BODY_BYTES:
                    raise TooLarge
        finally:
            await response.aclose()
        return bytes(body), response.status_code, response.headers

    def _surely_before(self, error: Exception) -> bool:
        """Whether no byte can have left: in doubt, one has.

        The total time may also run out while connecting; only the trace can tell that.
        """
        return isinstance(error, _BEFORE) or (isinstance(error, TimeoutError) and self._connecting)

    async def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Guard the first event that is not about connecting: after it, bytes may leave."""
        if event == _CONNECTED:
            self._opened = info["return_value"]
        if event.startswith(_CONNECTING):
            self._connecting = True
        elif not self.left and not self._held:
            await self._check(info)

    async def _check(self, info: Mapping[str, Any]) -> None:
        try:
            await self._guard(_seen(info.get("request")))
        except Held:
            self._held = True
            raise
        self.left = True


def _seen(request: object) -> httpcore.Request:
    if not isinstance(request, httpcore.Request):
        raise Held("request_drift", "what would leave can't be seen")
    return request


def _told(error: Exception, *, left: bool) -> tuple[str, str]:
    """A stable code for a failure, and a sentence without anything that was sent."""
    if isinstance(error, Held):
        return error.code, str(error)
    if isinstance(error, httpx.ConnectError):
        return _why_not_connected(error)
    if isinstance(error, TimeoutError) and not left:
        return "connect_timeout", "the connection did not come about in time"
    for kind, code, why in _CODES:
        if isinstance(error, kind):
            return code, why
    return "call_failed", f"the call failed ({type(error).__name__})"


def _why_not_connected(error: Exception) -> tuple[str, str]:
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLError):
            return "tls_failed", f"TLS could not be established ({type(cause).__name__})"
        if isinstance(cause, socket.gaierror):
            return "dns_failed", "the provider's name could not be resolved"
    return "connect_failed", "the provider could not be reached"


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__

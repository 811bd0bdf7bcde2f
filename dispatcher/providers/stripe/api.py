"""One Stripe account through the real SDK: reads, and the one way to send."""

from collections.abc import AsyncIterable, Mapping
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

import httpcore
import stripe

from dispatcher.deadline import Deadline
from dispatcher.providers.stripe.config import StripeConfig
from dispatcher.providers.stripe.heard import Heard, hear
from dispatcher.providers.stripe.request import Leaving, StoredRequest, difference, form_decode
from dispatcher.providers.stripe.transport import Guard, Held, Wire, open_pool

_PORTS: Final = {"http": 80, "https": 443}


class StripeApi:
    """The SDK on one shared pool of connections. Close it with `aclose`."""

    def __init__(self, config: StripeConfig) -> None:
        self.config = config
        self.skew_s: float | None = None
        """The provider's clock minus this process's, as its last answer told."""
        self._pool = open_pool(tcp_user_timeout_s=config.tcp_user_timeout_s, ca_file=config.ca_file)
        stripe.enable_telemetry = False  # it would write a file into the home directory

    async def aclose(self) -> None:
        """Close the connections; may be called more than once."""
        await self._pool.aclose()

    async def get(self, path: str, params: Mapping[str, str], *, account: str | None) -> Heard:
        """Read, inside the read budget. Nothing but a GET can leave through here.

        Raises:
            ProviderError: The read budget refused.
        """
        await self.config.before_read()
        return await self._call(
            _only_reads,
            "get",
            path,
            params,
            stripe_account=account,
            stripe_version=self.config.api_version,
        )

    async def send(self, stored: StoredRequest, deadline: Deadline) -> Heard:
        """Send a stored request before its deadline, to the byte, or nothing."""
        return await self._call(
            _as_stored(stored, deadline, _origin(self.config.base_url)),
            stored.method.lower(),
            stored.path,
            form_decode(stored.query if stored.body is None else stored.body),
            stripe_account=stored.stripe_account,
            stripe_version=stored.api_version,
            idempotency_key=stored.idempotency_key,
        )

    async def _call(
        self, guard: Guard, method: str, path: str, params: Mapping[str, str], **options: str | None
    ) -> Heard:
        config = self.config
        wire = Wire(self._pool, guard, connect_s=config.connect_s, call_s=config.call_s)
        client = stripe.StripeClient(
            config.api_key,
            base_addresses={"api": config.base_url},
            max_network_retries=0,
            http_client=wire,
        )
        result: stripe.StripeResponse | Exception
        try:
            result = await client.raw_request_async(  # pyright: ignore[reportUnknownMemberType]  its parameters are untyped
                method, path, **params, **options
            )
        except Exception as error:  # noqa: BLE001  on odd bodies the SDK leaks errors of any kind
            result = error
        heard = hear(wire, result, now=datetime.now(UTC), api_key=config.api_key)
        if heard.skew_s is not None:
            self.skew_s = heard.skew_s
        return heard


async def _only_reads(request: httpcore.Request) -> None:
    if request.method != b"GET":
        raise Held("not_a_read", "a look-up tried to change something")


def _as_stored(stored: StoredRequest, deadline: Deadline, origin: str) -> Guard:
    async def guard(request: httpcore.Request) -> None:
        drift = difference(stored, await _leaving(request), origin=origin)
        if drift is not None:
            raise Held("request_drift", f"{drift}: what would leave is not what was approved")
        if deadline.passed:
            raise Held("deadline_passed", "the time for the first byte was over")

    return guard


async def _leaving(request: httpcore.Request) -> Leaving:
    url = request.url
    if not isinstance(request.stream, AsyncIterable):
        raise Held("request_drift", "the body that would leave can't be read")
    return Leaving(
        method=request.method.decode("ascii"),
        origin=_origin(f"{url.scheme.decode()}://{url.host.decode()}:{url.port or ''}"),
        target=url.target.decode("ascii"),
        headers=[
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers
        ],
        body=b"".join([chunk async for chunk in request.stream]),
    )


def _origin(address: str) -> str:
    parts = urlsplit(address)
    port = parts.port or _PORTS[parts.scheme]
    return f"{parts.scheme}://{parts.hostname}:{port}"

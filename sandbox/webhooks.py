"""Webhooks: signed, and as unruly as the documentation says they may be.

Duplicates, delays and any order are allowed by
https://docs.stripe.com/webhooks#event-delivery-behaviors; a failed delivery is tried again.
Signature: HMAC-SHA256 over `t.body` (https://docs.stripe.com/webhooks#verify-manually).
"""

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import httpx

from sandbox.background import Background, Changes
from sandbox.clock import Clock, Later
from sandbox.errors import Json
from sandbox.switches import Switches

RETRY_DELAYS_S = (60.0, 3_600.0)
TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where webhooks go. `account` and `livemode` choose the events, `types` narrows them."""

    id: str
    url: str
    secret: str
    account: str
    livemode: bool
    connect: bool = False
    types: tuple[str, ...] = ()

    def wants(self, event: Json, account: str) -> bool:
        """Whether this endpoint is to hear of an event of that account."""
        mine = account == self.account or self.connect
        listed = not self.types or event["type"] in self.types
        return mine and listed and event["livemode"] is self.livemode


@dataclass(frozen=True, slots=True)
class DeliveryRecord:
    """One try to deliver an event: the status that came back, or the error."""

    event: str
    type: str
    endpoint: str
    at: float
    status: int | None
    error: str | None

    def public(self) -> Json:
        """This record for a reader."""
        return asdict(self)


def sign(secret: str, body: bytes, *, at: int) -> str:
    """The value of the Stripe-Signature header."""
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


class Postman:
    """Sends events to their endpoints and keeps account of every try."""

    def __init__(
        self, clock: Clock, later: Later, background: Background, changes: Changes
    ) -> None:
        self.endpoints: dict[str, Endpoint] = {}
        self.deliveries: list[DeliveryRecord] = []
        self.held: list[tuple[Json, Endpoint]] = []
        self._clock = clock
        self._later = later
        self._background = background
        self._changes = changes
        self._http: httpx.AsyncClient | None = None

    async def stop(self) -> None:
        """Close the connections to the endpoints."""
        if self._http is not None:
            await self._http.aclose()

    def post(self, event: Json, account: str, switches: Switches) -> None:
        """Take an event to every endpoint that wants it, as the switches say."""
        for endpoint in self.endpoints.values():
            if not endpoint.wants(event, account):
                continue
            event["pending_webhooks"] += 1
            if switches.webhooks_held:
                self.held.append((event, endpoint))
                continue
            for _ in range(switches.webhook_copies):
                self._send_at(self._clock.now() + switches.webhook_delay_s, event, endpoint)

    def resend(self, event: Json, account: str) -> None:
        """Send an event once more, as a person may from the dashboard."""
        for endpoint in self.endpoints.values():
            if endpoint.wants(event, account):
                self._send_at(self._clock.now(), event, endpoint)

    async def flush(self, *, order: Sequence[str] | None, backwards: bool, copies: int) -> int:
        """Deliver what is held, one after another; `order` lists event ids, the rest follows."""
        held, self.held = self.held, []
        if order is not None:
            place = {event_id: index for index, event_id in enumerate(order)}
            held.sort(key=lambda item: place.get(item[0]["id"], len(place)))
        if backwards:
            held.reverse()
        for event, endpoint in held:
            for _ in range(copies):
                await self._deliver(event, endpoint, tries=0)
        return len(held) * copies

    def _client(self) -> httpx.AsyncClient:
        if self._http is None:
            self._http = httpx.AsyncClient(timeout=TIMEOUT_S, trust_env=False)
        return self._http

    def _send_at(self, due: float, event: Json, endpoint: Endpoint, *, tries: int = 0) -> None:
        def start() -> None:
            self._background.spawn(self._deliver(event, endpoint, tries=tries))

        if due <= self._clock.now():
            start()
        else:
            self._later.at(due, start)

    async def _deliver(self, event: Json, endpoint: Endpoint, *, tries: int) -> None:
        body = json.dumps(event, indent=2).encode()
        at = self._clock.now()
        headers = {
            "Content-Type": "application/json; charset=utf-8",
            "Stripe-Signature": sign(endpoint.secret, body, at=int(at)),
        }
        status, problem = None, None
        try:
            answer = await self._client().post(endpoint.url, content=body, headers=headers)
            status = answer.status_code
        except httpx.HTTPError as error:
            problem = f"{type(error).__name__}: {error}"
        self.deliveries.append(
            DeliveryRecord(event["id"], event["type"], endpoint.id, at, status, problem)
        )
        if status is not None and httpx.codes.is_success(status):
            event["pending_webhooks"] = max(0, event["pending_webhooks"] - 1)
        elif tries < len(RETRY_DELAYS_S):
            due = self._clock.now() + RETRY_DELAYS_S[tries]
            self._send_at(due, event, endpoint, tries=tries + 1)
        self._changes.notify()

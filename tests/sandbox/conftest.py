"""A running sandbox, its control, and the real Stripe SDK pointed at it."""

from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest
import stripe

from sandbox.control import Control
from sandbox.server import Server, running

Connect = Callable[..., stripe.StripeClient]
Refund = Callable[..., Coroutine[Any, Any, stripe.Refund]]


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """A sandbox of its own for each test."""
    async with running() as started:
        yield started


@pytest.fixture
async def control(server: Server) -> AsyncIterator[Control]:
    """Its control."""
    async with server.control() as client:
        yield client


@pytest.fixture
async def connect(server: Server) -> AsyncIterator[Connect]:
    """Makes Stripe clients: `connect(key, timeout=…)`."""
    made: list[stripe.HTTPXClient] = []

    def make(
        key: str = "sk_test_sandbox", *, timeout: float = 10.0, version: str | None = None
    ) -> stripe.StripeClient:
        http = stripe.HTTPXClient(timeout=timeout)
        made.append(http)
        return stripe.StripeClient(
            key,
            base_addresses={"api": server.url},
            max_network_retries=0,
            http_client=http,
            stripe_version=version,
        )

    yield make
    for http in made:
        await http.close_async()  # type: ignore[no-untyped-call]  # stripe does not type it


@pytest.fixture
def client(connect: Connect) -> stripe.StripeClient:
    """The Stripe SDK with the default test key."""
    return connect()


@pytest.fixture
async def refund(control: Control, client: stripe.StripeClient) -> Refund:
    """Refunds 1000 of the seeded charge `ch_1` (5000, of `pi_1`); any field can be given."""
    await control.seed(charges=[{"id": "ch_1", "amount": 5_000, "payment_intent": "pi_1"}])

    async def send(
        *,
        key: str = "key_1",
        charge: str = "ch_1",
        amount: int | None = 1_000,
        by: stripe.StripeClient | None = None,
        options: dict[str, Any] | None = None,
        **fields: Any,
    ) -> stripe.Refund:
        params: Any = {"charge": charge, **({"amount": amount} if amount else {}), **fields}
        how: Any = {"idempotency_key": key, **(options or {})}
        return await (by or client).v1.refunds.create_async(params, how)

    return send

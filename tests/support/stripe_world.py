"""The world with the sandbox: the real Stripe adapter, over HTTP, and its true effects."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from dispatcher.providers.stripe import StripeConfig, stripe_types
from ledger.model import Operation
from sandbox.control import Control
from sandbox.server import running
from sidecar.registry import Types
from tests.support.ledgers import ledger_at
from tests.support.world import World


@dataclass(slots=True)
class StripeWorld(World):
    """A world around the sandbox, reached by the real adapter over HTTP."""

    sandbox: Control = field(kw_only=True)
    url: str = field(kw_only=True)

    async def cancel_by_hand(self, subscription: str) -> None:
        """Somebody else cancels it, over the API."""
        async with httpx.AsyncClient(base_url=self.url, auth=("sk_test_sandbox", "")) as http:
            (await http.delete(f"/v1/subscriptions/{subscription}")).raise_for_status()

    async def refund(self, charge: str = "ch_1", amount_minor: int = 3000, **how: Any) -> Operation:
        """One authorized refund."""
        item = {"charge": charge, "amount_minor": amount_minor, "currency": "usd"}
        [operation] = await self.authorize("stripe.refund", item, **how)
        return operation

    async def effects(self, operation: Operation) -> list[dict[str, Any]]:
        """What truly came about at the sandbox under the operation's key."""
        key = operation.idempotency_key
        return [e for e in await self.sandbox.journal() if e["idempotency_key"] == key]

    async def posts(self) -> int:
        """How many requests that change something have arrived."""
        return sum(r["method"] != "GET" for r in await self.sandbox.requests())


@asynccontextmanager
async def stripe_world_at(
    dsn: str, *, key: str = "sk_test_sandbox", **parts: Any
) -> AsyncGenerator[StripeWorld]:
    """A ledger and a sandbox of its own; both clocks run, and jump together."""
    async with ledger_at(dsn) as ledger, running() as server, server.control() as control:
        types = stripe_types(stripe_config(server.url, key))
        made = StripeWorld(ledger, Types(types), control, sandbox=control, url=server.url, **parts)
        await made.begin(still=False)
        await control.seed(
            charges=[{"id": f"ch_{n}", "amount": 5000, "currency": "usd"} for n in range(1, 7)],
            subscriptions=[{"id": "sub_1"}],
        )
        try:
            yield made
        finally:
            await types[0].aclose()


def stripe_config(url: str, key: str) -> StripeConfig:
    """Stripe as it is: nothing is shortened but what a test waits for in real time."""
    return StripeConfig(api_key=key, salt=b"salt", base_url=url, connect_s=2.0, call_s=5.0)


@pytest.fixture
async def stripe_world(ledger_dsn: str) -> AsyncGenerator[StripeWorld]:
    """A world with the real Stripe adapter and the sandbox."""
    async with stripe_world_at(ledger_dsn) as made:
        yield made

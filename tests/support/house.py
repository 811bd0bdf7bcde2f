"""A serving process for tests: real HTTP on loopback, a real PostgreSQL, the sandbox behind."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, LiteralString
from uuid import UUID, uuid4

import httpx
import pytest
from pydantic import SecretStr

from ledger.commands import Worker
from ledger.postgres.clock import mark_test_database
from recovery.passes import Passes
from sandbox.control import Control
from sandbox.server import running
from sidecar.access.roles import Role
from sidecar.access.tokens import NewToken
from sidecar.serving import Serving, open_serving
from sidecar.settings import Settings, load
from sidecar.wiring import System, open_system

SECRETS: Final = ("whsec_new", "whsec_old")
UP_TO_20: Final = """
version = 1
[[rules]]
name = "small_refunds"
types = ["stripe.refund"]
total_at_most_minor = {usd = 2000}
items_at_most = 10
recipients_at_most = 10
"""
"""Refunds up to 20 USD go by themselves."""
TWO_PEOPLE: Final = """
version = 1
[[two_people]]
types = ["stripe.refund"]
above_minor = {usd = 4000}
"""


@dataclass(slots=True)
class House:
    """The process, and everything around it."""

    system: System
    serving: Serving
    passes: Passes
    control: Control
    stack: AsyncExitStack
    served: asyncio.Task[None]
    """Ends when everything in flight has been finished."""

    @property
    def url(self) -> str:
        """Where it listens."""
        return self.serving.url

    async def as_(self, role: Role, name: str | None = None) -> httpx.AsyncClient:
        """A client with a token of its own."""
        tokens = self.serving.doors.tokens
        new = NewToken(name or f"{role.value}-1", role, by="person:tests")
        _, secret = await tokens.create(new)
        return await self.client(secret)

    async def client(self, secret: str | None = None) -> httpx.AsyncClient:
        """A client with this token, or with none."""
        headers = {} if secret is None else {"Authorization": f"Bearer {secret}"}
        limits = httpx.Limits(max_connections=None)
        made = httpx.AsyncClient(
            base_url=self.url, headers=headers, timeout=70, trust_env=False, limits=limits
        )
        return await self.stack.enter_async_context(made)

    async def work(self) -> int:
        """One worker's pass, to its end."""
        await self.passes.beat()
        taken = await self.passes.orphans()
        await self.passes.drain()
        return taken

    async def sent(self) -> None:
        """Work until all operations have left and every attempt has its outcome, if only doubt.

        That an operation is in doubt does not say so: it is that from before its first byte.
        """
        query = """
            SELECT count(*) AS unanswered
              FROM operations o LEFT JOIN attempts a ON a.operation_id = o.id
             WHERE a.outcome IS NULL AND o.state IN ('created', 'sent')
        """
        while await self._count(query):
            await self.work()

    async def _count(self, query: LiteralString) -> int:
        async with self.system.ledger.pool.connection() as connection:
            found = await (await connection.execute(query)).fetchone()
        assert found is not None
        return int(found["unanswered"])

    async def refunds(self) -> int:
        """How many refunds truly took place."""
        return sum(effect["kind"] == "refund" for effect in await self.control.journal())


@asynccontextmanager
async def house_at(
    dsn: str, home: Path, *, policy: str | None = UP_TO_20, **settings: Any
) -> AsyncGenerator[House]:
    """A serving process with a ledger and a sandbox of its own."""
    home.mkdir(exist_ok=True, parents=True)  # noqa: ASYNC240  before anything runs
    if policy is not None:
        (home / "policy.toml").write_text(policy)
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(running())
        control = await stack.enter_async_context(server.control())
        await control.seed(
            charges=[{"id": f"ch_{n}", "amount": 5000, "currency": "usd"} for n in range(1, 41)],
            subscriptions=[{"id": "sub_1"}],
        )
        chosen: Settings = load(
            home=home,
            database_url=SecretStr(dsn),
            stripe_api_key=SecretStr("sk_test_sandbox"),
            stripe_url=server.url,
            http_port=0,
            stripe_webhook_secrets=SecretStr(",".join(SECRETS)),
            **{"http_rate_per_s": 10_000, "http_rate_burst": 10_000, **settings},
        )
        system = await stack.enter_async_context(open_system(chosen))
        async with system.ledger.pool.connection() as connection:
            await mark_test_database(connection)
        worker = Worker(uuid4(), "serve", "here", 1)
        passes = system.passes(worker)
        await passes.register()
        serving = await stack.enter_async_context(open_serving(system, worker))
        clients = await stack.enter_async_context(AsyncExitStack())
        served = asyncio.create_task(serving.run(), name="serving")
        made = House(system, serving, passes, control, clients, served)
        try:
            yield made
        finally:
            await clients.aclose()
            serving.stop()
            await served


@pytest.fixture
async def house(ledger_dsn: str, tmp_path: Path) -> AsyncGenerator[House]:
    """A serving process whose policy lets refunds up to 20 USD go."""
    async with house_at(ledger_dsn, tmp_path / "home") as made:
        yield made


def refund(charge: str = "ch_1", amount_minor: int = 1200) -> dict[str, Any]:
    """One refund, as a batch."""
    return {
        "type": "stripe.refund",
        "items": [{"charge": charge, "amount_minor": amount_minor, "currency": "usd"}],
    }


async def propose(
    agent: httpx.AsyncClient,
    body: dict[str, Any],
    *,
    key: str | None = None,
    wait: int | None = None,
) -> httpx.Response:
    """Ask for an effect."""
    return await agent.post(
        "/v1/operations",
        json=body,
        headers={"Idempotency-Key": key or str(uuid4())},
        params={} if wait is None else {"wait": wait},
    )


async def waiting(agent: httpx.AsyncClient, body: dict[str, Any]) -> dict[str, Any]:
    """A proposal that waits for a person, as it is read."""
    answer = await propose(agent, body)
    assert answer.status_code == 202, answer.text
    proposal_id = UUID(answer.json()["proposal"]["id"])
    return await read(agent, proposal_id)


async def read(client: httpx.AsyncClient, proposal_id: UUID | str) -> dict[str, Any]:
    """A proposal as it stands."""
    answer = await client.get(f"/v1/proposals/{proposal_id}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def named(proposal: dict[str, Any], **more: Any) -> dict[str, Any]:
    """What a decision names."""
    return {"version": proposal["version"], "digest": proposal["digest"], **more}

"""The command line against a real ledger and a real sandbox, for tests that block."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import pytest
from psycopg import sql

from sandbox.control import Control
from sandbox.server import Server, running_in_thread
from sidecar.cli.main import run
from sidecar.settings import load
from sidecar.wiring import System, open_system
from sidecar.worker.identity import held_identity

Result = TypeVar("Result")

TABLES = ("proposals", "authorizations", "operations", "events", "event_payloads", "attempts")
"""What a refused command must leave as it was."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Its output, read as JSON."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Place:
    """A ledger, a provider, and somebody at a terminal."""

    dsn: str
    home: Path
    server: Server
    capture: pytest.CaptureFixture[str]
    patch: pytest.MonkeyPatch

    def outlive(self, *arguments: str) -> Answered:
        """Run a command."""
        self.capture.readouterr()
        code = run(arguments)
        said = self.capture.readouterr()
        return Answered(code, said.out, said.err)

    def sandbox(self, act: Callable[[Control], Awaitable[Result]]) -> Result:
        """Do something in the provider's control."""

        async def work() -> Result:
            async with self.server.control() as control:
                return await act(control)

        return asyncio.run(work())

    def seed(self, *charges: str, amount: int = 5_000, **more: Any) -> None:
        """Make payments that can be refunded."""
        made = [{"id": charge, "amount": amount, "currency": "eur"} for charge in charges]
        self.sandbox(lambda control: control.seed(charges=made, **more))

    def file(self, *items: object, name: str = "batch.jsonl") -> str:
        """A batch file; an item that is bytes is taken as its line."""
        lines = [
            item if isinstance(item, bytes) else json.dumps(item, ensure_ascii=False).encode()
            for item in items
        ]
        path = self.home / name
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        return str(path)

    def authorize(self, *items: object, key: str = "k", more: tuple[str, ...] = ()) -> Answered:
        """Authorize a batch of refunds."""
        given = ("--type", "stripe.refund", "--key", key, "--by", "amaia", "--json")
        return self.outlive("authorize", self.file(*items), *given, *more)

    def rows(self) -> dict[str, int]:
        """How many rows each table has."""
        with psycopg.connect(self.dsn) as connection:
            counts: dict[str, int] = {}
            for name in TABLES:
                query = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(name))
                row = connection.execute(query).fetchone()
                counts[name] = 0 if row is None else int(row[0])
            return counts

    def execute(self, statement: bytes) -> None:
        """Change the database behind everybody's back."""
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute(statement)

    def work(self, until: Callable[[System], Awaitable[bool]]) -> None:
        """Let a worker work until something holds; it looks as often as it can."""

        async def work() -> None:
            settings = load()
            with held_identity(settings.home, "tests") as worker:
                async with open_system(settings) as system, asyncio.timeout(30):
                    passes = system.passes(worker)
                    await passes.register()
                    while not await until(system):
                        await passes.orphans()
                        await passes.drain()
                        await passes.beat()
                    await passes.leave()

        asyncio.run(work())


def all_final(*operation_ids: Any) -> Callable[[System], Awaitable[bool]]:
    """That these operations are final."""

    async def final(system: System) -> bool:
        return all(o.final for o in await system.ledger.operations(operation_ids))

    return final


def all_escalated(*operation_ids: Any) -> Callable[[System], Awaitable[bool]]:
    """That these operations stand before a person."""

    async def asked(system: System) -> bool:
        return all(o.escalated for o in await system.ledger.operations(operation_ids))

    return asked


def refund(charge: str = "ch_1", amount_minor: object = 1_000, **more: Any) -> dict[str, Any]:
    """An item."""
    return {"charge": charge, "amount_minor": amount_minor, "currency": "eur", **more}


@pytest.fixture
def place(
    ledger_dsn: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Place]:
    """A ledger with nothing in it, a sandbox with nothing in it, and their settings."""
    with running_in_thread() as server:
        for name, value in {
            "OUTLIVE_HOME": str(tmp_path),
            "OUTLIVE_DATABASE_URL": ledger_dsn,
            "OUTLIVE_STRIPE_URL": server.url,
            "STRIPE_API_KEY": "sk_test_sandbox",
            "OUTLIVE_PROCESSING_MARGIN_S": "0.2",
            "OUTLIVE_TCP_USER_TIMEOUT_S": "0.1",
            "OUTLIVE_SEND_BUDGET_S": "1",
            "OUTLIVE_RETRY_FIRST_S": "0.1",
            "OUTLIVE_READS_PER_S": "1000",
            "OUTLIVE_READS_BURST": "1000",
            "COLUMNS": "200",
            "TZ": "UTC",
        }.items():
            monkeypatch.setenv(name, value)
        yield Place(ledger_dsn, tmp_path, server, capsys, monkeypatch)

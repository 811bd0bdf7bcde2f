"""`outlive serve` as a real process: started, stopped in order, and killed."""

import asyncio
import contextlib
import os
import pty
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import UUID

import httpx
import pytest

from ledger.model import State
from ledger.postgres.ledger import Ledger
from sandbox.control import Control
from sandbox.server import running
from sidecar.access.roles import Role
from sidecar.access.tokens import NewToken, Tokens
from tests.support.house import UP_TO_20, propose, refund
from tests.support.ledgers import ledger_at
from tests.support.writes import query

ROOT: Final = Path(__file__).parents[2]
OUTLIVE: Final = (sys.executable, "-m", "sidecar.cli.main")


@dataclass(slots=True)
class Street:
    """A ledger and a sandbox that processes share."""

    dsn: str
    ledger: Ledger
    control: Control
    home: Path
    environment: dict[str, str]

    async def start(self, *arguments: str, ready: str) -> tuple[Process, str]:
        """Start a process, and wait until it says that it is ready; its line."""
        process = await asyncio.create_subprocess_exec(
            *OUTLIVE, *arguments, cwd=ROOT, env=self.environment, stdout=PIPE, stderr=None
        )
        assert process.stdout is not None
        async for line in process.stdout:
            if ready in line.decode():
                return process, line.decode()
        raise AssertionError(f"it ended before it said {ready!r}")

    async def serve(self, identity: str = "one") -> tuple[Process, str]:
        """A serving process, and its address."""
        process, line = await self.start(
            "serve", "--port", "0", "--identity", identity, ready="doors"
        )
        return process, line.split()[1].removesuffix("/v1")

    async def token(self, role: Role, name: str) -> str:
        """A token's secret."""
        _, secret = await Tokens(self.ledger.pool).create(NewToken(name, role, "person:tests"))
        return secret


@pytest.fixture
async def street(ledger_dsn: str, tmp_path: Path) -> AsyncGenerator[Street]:
    """Where processes meet."""
    (tmp_path / "policy.toml").write_text(UP_TO_20)
    async with ledger_at(ledger_dsn) as ledger, running() as server, server.control() as control:
        await control.seed(
            charges=[{"id": f"ch_{n}", "amount": 5000, "currency": "usd"} for n in range(1, 9)]
        )
        environment = {
            **os.environ,
            "OUTLIVE_HOME": str(tmp_path),
            "OUTLIVE_DATABASE_URL": ledger_dsn,
            "OUTLIVE_STRIPE_URL": server.url,
            "STRIPE_API_KEY": "sk_test_sandbox",
            "PYTHONUNBUFFERED": "1",
        }
        yield Street(ledger_dsn, ledger, control, tmp_path, environment)


@contextlib.asynccontextmanager
async def agent_at(url: str, secret: str) -> AsyncGenerator[httpx.AsyncClient]:
    """An agent's client."""
    headers = {"Authorization": f"Bearer {secret}"}
    async with httpx.AsyncClient(
        base_url=url, headers=headers, timeout=60, trust_env=False
    ) as client:
        yield client


async def test_a_process_that_is_told_to_stop_finishes_what_it_has_begun(street: Street) -> None:
    """SIGTERM in the middle of a send: the caller gets the end, and nothing is left behind."""
    process, url = await street.serve()
    held = await street.control.arm("slow", method="POST", when="after", hold=True)
    async with agent_at(url, await street.token(Role.AGENT, "bot")) as agent:
        asked = asyncio.create_task(propose(agent, refund()))
        await street.control.wait(fault=held)
        process.send_signal(signal.SIGTERM)
        answer = await asked
        assert answer.json()["result"]["status"] in {"sending", "executed"}
        await street.control.release(held)
        assert await asyncio.wait_for(process.wait(), 30) == 0
    operation = await street.ledger.operation(UUID(answer.json()["operation_ids"][0]))
    assert operation.state is State.CONFIRMED
    rows = await query(street.ledger, "SELECT 1 FROM workers WHERE ended_at IS NULL")
    assert rows == []


async def test_what_a_killed_process_was_sending_is_finished_by_a_worker_once(
    street: Street,
) -> None:
    """SIGKILL after the provider acted, before the answer: one refund, and the same key finds it.

    A second serving process answers the agent's repeat.
    """
    process, url = await street.serve("one")
    held = await street.control.arm("slow", method="POST", when="after", hold=True)
    secret = await street.token(Role.AGENT, "bot")
    async with agent_at(url, secret) as agent:
        asked = asyncio.create_task(propose(agent, refund(), key="k"))
        await street.control.wait(fault=held, journal=1)
        process.kill()
        await process.wait()
        with contextlib.suppress(httpx.HTTPError):
            await asked
    await street.control.release(held)
    second, url = await street.serve("two")
    worker, _ = await street.start("worker", "--identity", "w", ready="worker")
    async with agent_at(url, secret) as agent:
        again = await propose(agent, refund(), key="k", wait=60)
    assert again.json()["repeated"] is True
    assert again.json()["result"]["status"] == "executed"
    assert len(await street.control.journal()) == 1
    for each in (second, worker):
        each.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(each.wait(), 30) == 0


async def test_the_first_start_shows_a_link_on_a_terminal_alone(street: Street) -> None:
    """Into a pipe, which may be a log, it only says how to make one."""
    process, line = await street.start("serve", "--port", "0", ready="sign-in")
    assert "outlive token create" in line
    process.send_signal(signal.SIGTERM)
    await process.wait()
    assert await query(street.ledger, "SELECT 1 FROM tokens") == []

    ours, theirs = pty.openpty()
    terminal = await asyncio.create_subprocess_exec(
        *OUTLIVE, "serve", "--port", "0", cwd=ROOT, env=street.environment, stdout=theirs
    )
    os.close(theirs)
    shown = await asyncio.to_thread(_read_until, ours, b"is working")
    terminal.send_signal(signal.SIGTERM)
    await terminal.wait()
    os.close(ours)
    assert b"/console/sign-in/" in shown


def _read_until(descriptor: int, wanted: bytes) -> bytes:
    shown = b""
    while wanted not in shown:
        shown += os.read(descriptor, 4096)
    return shown


async def test_an_address_that_is_taken_is_named(street: Street) -> None:
    """And nothing else begins."""
    process, url = await street.serve("one")
    port = url.rpartition(":")[2]
    second = await asyncio.create_subprocess_exec(
        *(*OUTLIVE, "serve", "--port", port, "--identity", "two"),
        cwd=ROOT,
        env=street.environment,
        stderr=PIPE,
    )
    _, told = await second.communicate()
    assert second.returncode == 2
    assert b"port_taken" in told
    process.send_signal(signal.SIGTERM)
    assert await process.wait() == 0

"""Everything around an agent: a serving process, a worker, a person, and the provider."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from ledger.postgres.clock import advance
from outlive_client import AsyncClient
from sidecar.access.roles import Role
from sidecar.access.tokens import NewToken
from sidecar.worker.periodic import open_periodic
from tests.support.house import House, house_at, named, read

ROOT: Final = Path(__file__).parents[2]
PYTHON: Final = ROOT / ".venv-frameworks" / "bin" / "python"
LOOK_AGAIN_S: Final = 0.05
GIVE_UP_S: Final = 60.0


@dataclass(slots=True)
class Agent:
    """An agent's process."""

    process: asyncio.subprocess.Process

    async def says(self, word: str) -> str:
        """Wait for a line that begins with a word; the rest of it.

        Raises:
            AssertionError: It ended without it; with what it said instead.
        """
        assert self.process.stdout is not None
        said: list[str] = []
        async with asyncio.timeout(GIVE_UP_S):
            while line := (await self.process.stdout.readline()).decode():
                said.append(line)
                if line.startswith(f"{word} "):
                    return line.removeprefix(f"{word} ").strip()
        raise AssertionError(f"the agent never said {word!r}:\n{''.join(said)}")

    async def kill(self) -> bool:
        """SIGKILL; whether it died of it."""
        self.process.kill()
        return await self.process.wait() == -signal.SIGKILL

    async def ends(self) -> str:
        """Wait for its end; all that it said."""
        assert self.process.stdout is not None
        async with asyncio.timeout(GIVE_UP_S):
            said = (await self.process.stdout.read()).decode()
            await self.process.wait()
        return said


@dataclass(slots=True)
class Stage:
    """One ledger with everything around it."""

    house: House
    folder: Path
    token: str
    person: httpx.AsyncClient

    async def agent(self, example: str, *arguments: str, **settings: str) -> Agent:
        """Start an agent's process."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "clients" / "python"),
            "OUTLIVE_URL": self.house.url,
            "OUTLIVE_TOKEN": self.token,
            "CHECKPOINTS": str(self.folder / "checkpoints.sqlite"),
            **settings,
        }
        process = await asyncio.create_subprocess_exec(
            *(str(PYTHON), "agent.py", *arguments),
            cwd=ROOT / "examples" / example,
            env=environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        return Agent(process)

    async def decide(self, act: str, **more: Any) -> None:
        """A person decides about the one proposal that waits."""
        listed = await self.person.get("/v1/proposals", params={"state": "awaiting"})
        [line] = listed.json()["proposals"]
        proposal = await read(self.person, line["id"])
        path = f"/v1/proposals/{line['id']}/{act}"
        answer = await self.person.post(path, json=named(proposal, **more))
        assert answer.is_success, answer.text

    async def ready(self, run_id: str) -> None:
        """Wait until the run may go on."""
        async with self.client() as client, asyncio.timeout(GIVE_UP_S):
            while (await client.run(run_id)).state != "ready":  # noqa: ASYNC110  over HTTP
                await asyncio.sleep(LOOK_AGAIN_S)

    async def later(self, seconds: float) -> None:
        """Let the ledger's time pass."""
        async with self.house.system.ledger.pool.connection() as connection:
            await advance(connection, seconds)

    def client(self) -> AsyncClient:
        """The agent's own way to the ledger."""
        return AsyncClient(self.house.url, self.token)


@asynccontextmanager
async def stage_at(dsn: str, folder: Path) -> AsyncGenerator[Stage]:
    """A ledger of its own, with a worker that works."""
    async with house_at(dsn, folder / "home") as house, open_periodic(house.system) as periodic:

        async def work() -> None:
            while True:
                await house.work()
                for each in periodic:
                    await each.run()
                await asyncio.sleep(LOOK_AGAIN_S)

        tokens = house.serving.doors.tokens
        _, token = await tokens.create(NewToken("support", Role.AGENT, by="person:tests"))
        person = await house.as_(Role.APPROVER, "amaia")
        working = asyncio.create_task(work(), name="worker")
        try:
            yield Stage(house, folder, token, person)
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)

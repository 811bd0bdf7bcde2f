"""The processes of the demo: each a command line of its own, told everything by its environment."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ledger.errors import OutliveError
from sidecar.demo import agent as agents
from sidecar.demo.data import SETTINGS
from sidecar.sandboxed import Addresses, ended

_DOOR_LIMIT_S: Final = 30.0
_OURS: Final = ("OUTLIVE_", "STRIPE_")


class DemoFailed(OutliveError):
    """The demo could not be played to its end; this says nothing about the promise."""

    code = "demo_failed"


@dataclass(frozen=True, slots=True)
class Said:
    """What a command answered."""

    command: str
    exit_code: int
    output: str
    errors: str


@dataclass(frozen=True, slots=True)
class Processes:
    """Starts commands on the demo's folder, and nothing of what the user has set up."""

    home: Path
    sandbox: Addresses

    @property
    def environment(self) -> Mapping[str, str]:
        """The caller's, without any of our settings: a demo never meets a real provider."""
        return {
            **_others(),
            **SETTINGS,
            "OUTLIVE_HOME": str(self.home),
            "OUTLIVE_STRIPE_URL": self.sandbox.api,
            "STRIPE_API_KEY": self.sandbox.key,
            "COLUMNS": "120",
        }

    async def worker(self, identity: str) -> asyncio.subprocess.Process:
        """Start a worker; what it says goes to a file of its name."""
        with (self.home / f"{identity}.log").open("ab") as log:
            return await asyncio.create_subprocess_exec(
                *(*_OUTLIVE, "-v", "worker", "--identity", identity),
                env=self.environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @asynccontextmanager
    async def door(self) -> AsyncGenerator[str]:
        """Run `outlive serve` on a free port for as long as a block lasts; its address.

        Raises:
            DemoFailed: It did not start.
        """
        with (self.home / "serve.log").open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                *(*_OUTLIVE, "-v", "serve", "--port", "0", "--identity", "door"),
                env=self.environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        try:
            yield await _address(process)
        finally:
            await ended(process)

    async def agent(self, url: str, token: str, *arguments: str, batch: bytes) -> Said:
        """Run the agent to its end: it knows the door and its token, and no provider."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", agents.__name__, *arguments),
            env={**_others(), agents.URL: url, agents.TOKEN: token},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        output, errors = await process.communicate(batch)
        return Said(
            "agent",
            process.returncode or 0,
            output.decode(errors="replace").strip(),
            errors.decode(errors="replace").strip(),
        )

    async def say(self, *arguments: str) -> Said:
        """Run a command to its end."""
        process = await asyncio.create_subprocess_exec(
            *(*_OUTLIVE, *arguments),
            env=self.environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        output, errors = await process.communicate()
        return Said(
            f"outlive {' '.join(arguments)}",
            process.returncode or 0,
            output.decode(errors="replace").strip(),
            errors.decode(errors="replace").strip(),
        )


_OUTLIVE: Final = (sys.executable, "-m", "sidecar.cli.main")


def _others() -> dict[str, str]:
    """The caller's environment without any of our settings."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}


async def _address(door: asyncio.subprocess.Process) -> str:
    """Where the door says that it listens."""
    assert door.stdout is not None  # noqa: S101  it was asked for
    try:
        async with asyncio.timeout(_DOOR_LIMIT_S):
            async for line in door.stdout:
                said = line.decode(errors="replace").split()
                if said[:1] == ["doors"]:
                    return said[1].removesuffix("/v1")
    except TimeoutError:
        pass
    raise DemoFailed("the HTTP door did not open; see serve.log in the demo's folder")

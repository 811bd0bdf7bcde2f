"""The processes of the demo: each a command line of its own, told everything by its environment."""

import asyncio
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ledger.errors import OutliveError
from sidecar.demo.data import SETTINGS
from sidecar.sandboxed import Addresses

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
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
        return {
            **kept,
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

"""The sandbox provider as a process of its own, for as long as a block lasts."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ledger.errors import OutliveError

START_LIMIT_S: Final = 20.0
_STOP_S: Final = 5.0


class SandboxDidNotStart(OutliveError):
    """The sandbox ended before it listened."""

    code = "sandbox_did_not_start"


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where a sandbox listens."""

    api: str
    control: str
    key: str
    """An API key that it accepts; it opens nothing else."""


@asynccontextmanager
async def sandbox_process(log: Path) -> AsyncGenerator[Addresses]:
    """Start `python -m sandbox` on free ports of this machine; what it says goes to `log`.

    Raises:
        SandboxDidNotStart: With where to read why.
    """
    with log.open("ab") as errors:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "sandbox"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            start_new_session=True,  # a Ctrl-C is for us, and we stop it in our order
        )
    try:
        yield await _heard(process, log)
    finally:
        await ended(process)


async def _heard(process: asyncio.subprocess.Process, log: Path) -> Addresses:
    assert process.stdout is not None  # noqa: S101  it was asked for
    try:
        async with asyncio.timeout(START_LIMIT_S):
            line = await process.stdout.readline()
        return Addresses(**json.loads(line))
    except (TimeoutError, ValueError, TypeError) as error:
        raise SandboxDidNotStart(f"the sandbox did not start; see {log}") from error


async def ended(process: asyncio.subprocess.Process) -> int:
    """Ask a process to end, and see that it does; returns its exit code."""
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(_STOP_S):
            return await process.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        return await process.wait()

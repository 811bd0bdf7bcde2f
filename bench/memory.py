"""Memory of a serving process, and the time until everything is up.

Resident memory (RSS) of `outlive serve` with nothing to do, after 128 requests in flight, and while
10,000 callers wait for a decision; and the time from starting `outlive up` on a folder that has
been used before until it works.
"""

import asyncio
import json
import os
import resource
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx
import psutil

from bench.http import POLICY, Door, serving, through
from bench.instant import NAME, item
from bench.rounds import Case, Figure, Line, Options, Result, at_most, interleaved, run
from bench.server import home, server

WAITING: Final = 10_000
_OUTLIVE: Final = Path(sys.executable).with_name("outlive")
_MIB: Final = 1024 * 1024
_CONNECTING_AT_ONCE: Final = 100


async def measure(options: Options) -> Result:
    """Memory once, in one process; the start in rounds."""
    waiting = 500 if options.quick else WAITING
    with home() as folder:
        policy = folder / "policy.toml"
        policy.write_text(POLICY)
        policy.chmod(0o644)
        async with server() as dsn, serving(dsn, folder, policy) as door:
            idle = _rss_mib(door)
            await through(door, "/v1/operations", in_flight=128, seconds=3)
            busy = _rss_mib(door)
            async with waiters(door, waiting):
                held = _rss_mib(door)
        up_home = folder / "up"
        await up_s(up_home)  # the first start makes the database

        async def once() -> float:
            return await up_s(up_home)

        told = await interleaved([Case("up", once)], options)
    return Result(
        name="memory",
        about="memory of a serving process, and the time until everything is up",
        lines=(
            Line("serving, idle", Figure.of([idle]), "MiB"),
            Line("after 128 in flight", Figure.of([busy]), "MiB"),
            Line(f"{waiting:,} waiting reads", Figure.of([held]), "MiB"),
            Line("a waiting read", Figure.of([(held - busy) * 1024 / waiting]), "KiB"),
            Line("outlive up, warm", told.figure("up"), "s", at_most(3.0)),
        ),
    )


def _rss_mib(door: Door) -> float:
    rss: int = psutil.Process(door.pid).memory_info().rss
    return rss / _MIB


@asynccontextmanager
async def waiters(door: Door, count: int) -> AsyncGenerator[None]:
    """So many callers, each with a connection, that wait for a person's decision."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    operation_id = await _awaiting(door)
    parts = urlsplit(door.url)
    request = (
        f"GET /v1/operations/{operation_id}?wait=60 HTTP/1.1\r\nHost: {parts.netloc}\r\n"
        f"Authorization: Bearer {door.agent}\r\n\r\n"
    ).encode()
    slots = asyncio.Semaphore(_CONNECTING_AT_ONCE)
    writers: list[asyncio.StreamWriter] = []

    async def one() -> None:
        async with slots:
            _, writer = await asyncio.open_connection(parts.hostname, parts.port)
            writer.write(request)
            await writer.drain()
            writers.append(writer)

    async with asyncio.TaskGroup() as group:
        for _ in range(count):
            group.create_task(one())
    await _until_waiting(door, count)
    yield
    for writer in writers:
        writer.close()


async def _awaiting(door: Door) -> str:
    """An operation that a person has to decide: more than the policy lets go."""
    wanted = {**item(0), "amount_minor": 1_000_000}
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {door.agent}"}) as client:
        answer = await client.post(
            f"{door.url}/v1/operations",
            content=json.dumps({"type": NAME, "items": [wanted]}),
            headers={"Content-Type": "application/json", "Idempotency-Key": "waits"},
        )
    return str(answer.raise_for_status().json()["operation_ids"][0])


async def _until_waiting(door: Door, count: int) -> None:
    """Ask the process itself how many wait, until all do."""
    async with httpx.AsyncClient(
        headers={"Authorization": f"Bearer {door.admin}"}, timeout=30
    ) as client:
        while True:
            text = (await client.get(f"{door.url}/metrics")).raise_for_status().text
            [line] = [one for one in text.splitlines() if one.startswith("outlive_http_waits ")]
            if float(line.split()[1]) >= count:
                return
            await asyncio.sleep(0.2)


async def up_s(folder: Path) -> float:
    """Seconds from starting `outlive up` until it says that it works."""
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *(str(_OUTLIVE), "--home", str(folder), "up", "--port", "0"),
        stdout=asyncio.subprocess.PIPE,
        env={name: value for name, value in os.environ.items() if not name.startswith("OUTLIVE_")},
    )
    assert process.stdout is not None  # noqa: S101  asked for above
    try:
        async for line in process.stdout:
            if b"is working" in line:
                return time.perf_counter() - began
        raise RuntimeError("outlive up ended before it was ready")
    finally:
        process.terminate()
        await process.communicate()


if __name__ == "__main__":
    sys.exit(run(measure))

"""A process that serves without a worker: a beating heart, and an eye on the database under it."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from typing import Any

from ledger.commands import Worker
from ledger.errors import DatabaseUnreachable, OutliveError, WorkerFenced
from sidecar.serving import Serving
from sidecar.wiring import System
from sidecar.worker.outside import WATCH_S, watch_outside

_log = logging.getLogger(__name__)


async def serve_with_heart(serving: Serving, system: System, this: Worker) -> None:
    """Register, beat, serve, and leave in order.

    It sends as a worker does, so it looks as well whether a backup was put back under it.

    Raises:
        WorkerFenced: This process was taken for dead; it stopped.
    """
    passes, settings = system.passes(this), system.settings
    await passes.register()
    fenced: list[WorkerFenced] = []

    async def beat() -> None:
        try:
            await passes.beat()
        except WorkerFenced as error:
            fenced.append(error)
            serving.stop()

    async def look() -> None:
        await watch_outside(system.ledger, settings)

    async with _beside(
        _again("heartbeat", settings.heartbeat_s, beat), _again("outside", WATCH_S, look)
    ):
        await serving.run()
    if fenced:
        raise fenced[0]
    try:
        await passes.leave()
    except DatabaseUnreachable as error:
        _log.warning("left without a word: %s", error)


async def _again(name: str, every_s: float, work: Callable[[], Awaitable[None]]) -> None:
    """Do something again and again; what goes wrong is told, and tried again."""
    while True:
        await asyncio.sleep(every_s)
        try:
            await work()
        except OutliveError as error:
            _log.warning("%s: %s", name, error)
        except Exception:  # noqa: BLE001  whatever it is, the next time must come
            _log.exception("%s failed; it is tried again in %g s", name, every_s)


@contextlib.asynccontextmanager
async def _beside(*jobs: Coroutine[Any, Any, None]) -> AsyncGenerator[None]:
    """Run jobs as long as the body runs."""
    tasks = [asyncio.create_task(job) for job in jobs]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

"""Work that goes on beside the requests, and a way to wait for a condition without polling."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any


class Background:
    """Tasks that somebody holds on to, so that none is lost and all end at shutdown."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        """Start `work` and keep it alive until it ends."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """Cancel what still runs and wait for it to be gone."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Changes:
    """Wakes those who wait for the sandbox's state to satisfy a condition."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Event] = set()

    def notify(self) -> None:
        """Something has changed: let everybody look again."""
        for event in self._waiting:
            event.set()

    async def until(self, condition: Callable[[], bool], *, timeout_s: float) -> bool:
        """Wait until `condition` holds; False if `timeout_s` real seconds went by first."""
        event = asyncio.Event()
        self._waiting.add(event)
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    while not condition():
                        await event.wait()
                        event.clear()
            return condition()
        finally:
            self._waiting.discard(event)

"""A worker process: heartbeats and passes, driven by APScheduler, until told to stop."""

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from apscheduler.events import EVENT_JOB_ERROR, JobExecutionEvent
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from ledger.errors import DatabaseUnreachable, OutliveError, WorkerFenced
from recovery.passes import Passes
from sidecar.settings import Settings

PASS_S: Final = 0.5
"""How often due operations are looked for; a pass that found some is followed at once."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Periodic:
    """Something that is done again and again beside recovery; it holds up nothing."""

    name: str
    every_s: float
    work: Callable[[], Awaitable[object]]
    at_once: bool = False
    """The first time when the process starts, not after a pause."""

    async def run(self) -> None:
        """Do it once; what goes wrong is told, and tried again the next time."""
        try:
            await self.work()
        except OutliveError as error:
            _log.warning("%s: %s", self.name, error)


class WorkerProcess:
    """Runs the passes of one worker."""

    def __init__(
        self,
        passes: Passes,
        settings: Settings,
        checkpoint: Callable[[], Awaitable[object]],
        periodic: Sequence[Periodic] = (),
    ) -> None:
        self._passes = passes
        self._settings = settings
        every_s = settings.checkpoint_every_s
        self._periodic = (Periodic("checkpoint", every_s, checkpoint), *periodic)
        self._stop = asyncio.Event()
        self._passing = asyncio.Lock()
        self._beating = asyncio.Lock()
        self._fenced: WorkerFenced | None = None

    def stop(self) -> None:
        """Take no more work; finish what is in flight."""
        self._stop.set()

    async def run(self) -> None:
        """Work until stopped; what is in flight is finished, under a beating heart.

        Raises:
            WorkerFenced: This process was taken for dead; it must not go on.
        """
        await self._passes.register()
        scheduler = AsyncIOScheduler(
            job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1},
            timezone="UTC",
        )
        scheduler.add_listener(_tell, EVENT_JOB_ERROR)
        scheduler.add_job(self._beat, "interval", seconds=self._settings.heartbeat_s, id="beat")
        scheduler.add_job(self._orphans, "interval", seconds=PASS_S, id="orphans")
        for one in self._periodic:
            first = {"next_run_time": datetime.now(UTC)} if one.at_once else {}
            scheduler.add_job(one.run, "interval", seconds=one.every_s, id=one.name, **first)
        scheduler.start()
        try:
            await self._stop.wait()
            scheduler.remove_job("orphans")
            async with self._passing:  # a pass that has begun may still claim: that is in flight
                await self._passes.drain()
        finally:
            scheduler.pause()
            await asyncio.sleep(0)  # a beat that was due begins
            async with self._beating:  # and is not broken off: APScheduler cancels what runs
                scheduler.shutdown(wait=False)
        if self._fenced is not None:
            raise self._fenced
        await self._leave()

    async def _orphans(self) -> None:
        try:
            async with self._passing:
                await self._passes.until_idle(self._stop.is_set, pause_s=PASS_S)
        except DatabaseUnreachable as error:
            _log.warning("%s", error)

    async def _beat(self) -> None:
        try:
            async with self._beating:
                await self._passes.beat()
        except WorkerFenced as error:
            self._fenced = error
            self._stop.set()
        except DatabaseUnreachable as error:
            _log.warning("no heartbeat: %s", error)

    async def _leave(self) -> None:
        try:
            await self._passes.leave()
        except DatabaseUnreachable as error:
            _log.warning("left without a word: %s", error)


def stop_on_signals(worker: WorkerProcess) -> None:
    """SIGTERM and SIGINT end the worker in order."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, worker.stop)


def _tell(event: JobExecutionEvent) -> None:
    _log.error("a periodic job failed", exc_info=event.exception)

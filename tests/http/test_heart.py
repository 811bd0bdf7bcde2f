"""A process that serves without a worker: what goes on beside its doors."""

import asyncio
from dataclasses import replace
from typing import cast
from uuid import uuid4

import pytest

from ledger.commands import Worker
from ledger.errors import WorkerFenced
from ledger.postgres.ledger import Ledger
from ledger.postgres.outside import read_mark, write_mark
from sidecar import heart
from sidecar.serving import Serving
from sidecar.settings import Settings
from sidecar.wiring import System
from sidecar.worker.outside import watch_outside
from tests.support.house import House
from tests.support.writes import query


class Doors:
    """Doors that are open until they are told to close."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.closed = asyncio.Event()

    def stop(self) -> None:
        """Close."""
        self.closed.set()

    async def run(self) -> None:
        """Stay open."""
        self.opened.set()
        await self.closed.wait()


async def test_it_notices_a_backup_put_back_under_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It sends what the policy approves, so it must not wait for a worker to notice."""
    looked = asyncio.Event()

    async def look(ledger: Ledger, settings: Settings) -> str | None:
        told = await watch_outside(ledger, settings)
        looked.set()
        return told

    monkeypatch.setattr(heart, "WATCH_S", 0.01)
    monkeypatch.setattr(heart, "watch_outside", look)
    ledger, mark = house.system.ledger, house.system.settings.mark
    known = read_mark(mark)
    assert known is not None
    write_mark(mark, replace(known, transaction=known.transaction + 1_000_000))
    doors = Doors()
    this = Worker(uuid4(), "alone", "here", 1)
    serving = asyncio.create_task(
        heart.serve_with_heart(cast("Serving", doors), house.system, this)
    )
    async with asyncio.timeout(30):
        await looked.wait()
    doors.stop()
    await serving
    assert await ledger.restorations.last(settle_s=1.0) is not None


async def test_it_stops_when_it_was_taken_for_dead(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its operations belong to others; the doors close, and it says so."""
    settings = house.system.settings.model_copy(update={"heartbeat_s": 0.01})
    system = replace(house.system, settings=settings)
    monkeypatch.setattr(heart, "WATCH_S", 3_600.0)
    doors = Doors()
    this = Worker(uuid4(), "alone", "here", 1)
    serving = asyncio.create_task(heart.serve_with_heart(cast("Serving", doors), system, this))
    async with asyncio.timeout(30):
        await doors.opened.wait()
        bury = "UPDATE workers SET ended_at = ledger_now() WHERE incarnation = %s"
        await query(system.ledger, bury, this.incarnation)
        with pytest.raises(WorkerFenced):
            await serving
    assert doors.closed.is_set()


async def test_its_heart_goes_on_after_whatever_went_wrong(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that stops in silence is taken for dead while it serves, and never hears of it."""
    beats = asyncio.Semaphore(0)

    class Passes:
        """Passes whose heartbeat breaks, as no fault of ours does."""

        async def register(self) -> None:
            """Nothing to announce."""

        async def beat(self) -> None:
            """Break."""
            beats.release()
            raise ZeroDivisionError

        async def leave(self) -> None:
            """Nothing to give back."""

    def passes(_system: System, _this: Worker) -> Passes:
        return Passes()

    settings = house.system.settings.model_copy(update={"heartbeat_s": 0.001})
    system = replace(house.system, settings=settings)
    monkeypatch.setattr(System, "passes", passes)
    doors = Doors()
    this = Worker(uuid4(), "alone", "here", 1)
    serving = asyncio.create_task(heart.serve_with_heart(cast("Serving", doors), system, this))
    async with asyncio.timeout(30):
        for _ in range(3):
            await beats.acquire()
    doors.stop()
    await serving

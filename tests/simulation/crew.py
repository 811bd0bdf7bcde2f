"""Processes and their lives: workers that rest until something is due, and begin anew when dead."""

import asyncio
import traceback
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Any, Final
from uuid import UUID

from ledger.errors import DatabaseUnreachable, WorkerFenced
from tests.simulation.actor import Actor, Killed
from tests.simulation.line import Line
from tests.simulation.process import Host, Process
from tests.simulation.stage import EPOCH, Stage

BEATS: Final = 0.3
"""How often a worker beats before it looks, beyond the beats while time went by."""
UPKEEP: Final = 0.2
"""How often it does the rest of its work: what was overtaken, windows that close."""
_NEXT_DUE: Final = b"""
SELECT lapses, least(due, lapses) AS due
  FROM (SELECT min(next_check_at) AS due FROM operations) AS operations,
       (SELECT min(expires_at) AS lapses FROM proposals WHERE state = 'awaiting') AS proposals"""


@dataclass(slots=True)
class Crew:
    """Starts them, wakes them, and sees to it that the living are known to live."""

    stage: Stage
    line: Line
    host: Host
    draw: Random
    slowness: float = 1.0
    """By how much longer the dead stay away."""
    faults: list[str] = field(default_factory=list[str])
    """Processes that fell over by themselves."""
    stormy: bool = True
    _resting: list[tuple[Actor, asyncio.Future[None]]] = field(
        default_factory=list[tuple[Actor, "asyncio.Future[None]"]]
    )
    _beating: dict[Actor, UUID] = field(default_factory=dict[Actor, UUID])
    _actors: list[Actor] = field(default_factory=list[Actor])
    _started: Counter[str] = field(default_factory=Counter[str])

    def __post_init__(self) -> None:
        """Take part in what the stage does when time goes by."""
        self.stage.next_due_s = self.next_due_s
        self.stage.on_due = self.wake
        self.stage.on_leap = self.beat_on

    def gone(self, actor: Actor) -> None:
        """It beats no more."""
        self._beating.pop(actor, None)

    def actor(self, name: str) -> Actor:
        """A new actor; the same name again has another number."""
        self._started[name] += 1
        made = Actor(f"{name}.{self._started[name]}")
        self._actors.append(made)
        return made

    def kill_all(self, where: str) -> None:
        """End every process at once."""
        for actor in self._actors:
            self.stage.kill(actor, where)
        self._actors.clear()
        self._resting.clear()
        self._beating.clear()

    async def start(self, actor: Actor, identity: str) -> Process:
        """Start its process, however often the database is lost meanwhile."""
        while True:
            try:
                process = await self.host.start(actor, identity, self.draw)
            except DatabaseUnreachable:
                await asyncio.sleep(1)
            else:
                self._beating[actor] = process.worker.incarnation
                return process

    def begin(self, actor: Actor, life: Coroutine[Any, Any, None]) -> None:
        """Let it live; how it ends is kept."""
        self.stage.begin(actor, self._lived(actor, life))

    async def _lived(self, actor: Actor, life: Coroutine[Any, Any, None]) -> None:
        try:
            await life
        except (Killed, asyncio.CancelledError):
            pass
        except BaseExceptionGroup:
            if not actor.dead:
                raise
        except Exception as error:  # noqa: BLE001  it is a violation, and told as one
            frames = traceback.extract_tb(error.__traceback__)
            ours = [f for f in frames if "simulation" not in f.filename and "ledger" in f.filename]
            where = f"{ours[-1].filename}:{ours[-1].lineno}" if ours else "?"
            self.faults.append(
                f"{actor.name} fell over in {where}: {type(error).__name__}: {error}"
            )

    def start_worker(self, identity: str, at_s: float) -> None:
        """Plan a worker, whose own clock may be off."""

        def begin() -> None:
            actor = self.actor(identity)
            actor.off_s = self.draw.choice([0, 0, 0, 40, -40, 600, -600])
            self.begin(actor, self._worker(actor, identity))

        self.stage.at(at_s, begin)

    async def _worker(self, actor: Actor, identity: str) -> None:
        try:
            process = await self.start(actor, identity)
            while True:
                try:
                    if self.draw.random() < BEATS:
                        await process.passes.beat()
                    await process.passes.orphans()
                    if self._lapsed():
                        await process.ledger.proposals.expire()
                    if self.draw.random() < UPKEEP:
                        await process.keep_up(self.draw)
                except DatabaseUnreachable:
                    await asyncio.sleep(1)
                    continue
                await self._rest(actor)
        except (WorkerFenced, DatabaseUnreachable) as error:
            self.stage.tell(f"- {actor.name} stops: {error.code}")
            self._restart(actor, identity)
        finally:
            if actor.dead:
                self._restart(actor, identity)

    def _restart(self, actor: Actor, identity: str) -> None:
        self.gone(actor)
        away_s = 10 ** self.draw.uniform(0, 4) * self.slowness if self.stormy else 1.0
        self.start_worker(identity, self.stage.now_s + away_s)

    async def _rest(self, actor: Actor) -> None:
        woken = self.stage.loop.create_future()
        self._resting.append((actor, woken))
        self.stage.look_again()
        await woken

    def wake(self) -> bool:
        """Some of the workers that live look; whether there were any."""
        alive = [one for one in self._resting if not one[0].dead and one[0].frozen_until_s is None]
        chosen = [one for one in alive if self.draw.random() < 0.7] if self.stormy else []
        chosen = chosen or self.draw.sample(alive, min(1, len(alive)))
        for one in chosen:
            self._resting.remove(one)
            if not one[1].done():
                one[1].set_result(None)
        return bool(chosen)

    def next_due_s(self) -> float | None:
        """When an operation is due, in the world's seconds."""
        due: datetime | None = self.line.peek(_NEXT_DUE)[0]["due"]
        return None if due is None else (due - EPOCH).total_seconds() - self.line.off_s

    def _lapsed(self) -> bool:
        """Whether a proposal has waited for long enough: a worker looks every second."""
        lapses: datetime | None = self.line.peek(_NEXT_DUE)[0]["lapses"]
        return lapses is not None and lapses <= self.line.now()

    def beat_on(self) -> None:
        """Those who live have beaten while time went by."""
        self.line.leap(
            [
                incarnation
                for actor, incarnation in self._beating.items()
                if not actor.dead and actor.frozen_until_s is None
            ]
        )

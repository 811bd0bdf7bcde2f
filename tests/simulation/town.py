"""Who acts in a world besides workers: agents with their errands, and people at their desks."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Final

from ledger.errors import DatabaseUnreachable, OutliveError, WorkerFenced
from tests.simulation.actor import Actor
from tests.simulation.agents import Acknowledged, Errand, Plan, run_errand, wanted
from tests.simulation.crew import Crew
from tests.simulation.hands import Deeds
from tests.simulation.line import Line
from tests.simulation.people import Desk
from tests.simulation.process import Process
from tests.simulation.provider import Provider
from tests.simulation.stage import Stage
from tests.simulation.truth import HOUR_S

WHIM: Final = 0.1
"""How often a person sits down although nothing waits."""
BRAKES: Final = 0.04


@dataclass(slots=True)
class Town:
    """Agents and people of one world."""

    stage: Stage
    line: Line
    provider: Provider
    crew: Crew
    draw: Random
    storm_s: float
    slowness: float
    careless: float
    """How often people err."""
    deeds: Deeds = field(default_factory=Deeds)
    errands: list[Errand] = field(default_factory=list[Errand])
    told: list[Acknowledged] = field(default_factory=list[Acknowledged])
    plans: Counter[str] = field(default_factory=Counter[str])

    def draw_errands(self) -> None:
        """Draw what customers asked for, and plan the agents that set about it."""
        draw = self.draw
        for number in range(draw.choice([1, 1, 2, 3])):
            errand = Errand.drawn(number, draw)
            for on, amount in errand.items:
                if amount is not None and draw.random() < 0.3:
                    self.provider.room[on] = int(amount * draw.choice([1.0, 1.4, 2.0]))
            self.errands.append(errand)
            begin_s = draw.uniform(0, min(self.storm_s / 2, HOUR_S))
            self._plan_agent(errand, Plan.FIRST, begin_s)
            for _ in range(draw.choice([0, 0, 1, 2])):
                later_s = begin_s + 10 ** draw.uniform(0, 4.5)
                self._plan_agent(errand, Plan.another(self.draw), later_s)

    def plan_desk(self, name: str) -> None:
        """Plan a person, who comes to the desk some time later."""

        def begin() -> None:
            if self.crew.stormy:
                self.crew.begin(actor := self.crew.actor(name), self._desk(actor, name))

        self.stage.at(self.stage.now_s + 10 ** self.draw.uniform(1, 3.5), begin)

    def _plan_agent(self, errand: Errand, plan: Plan, at_s: float) -> None:
        self.stage.at(at_s, lambda: self._start_agent(errand, plan))

    def _start_agent(self, errand: Errand, plan: Plan) -> None:
        actor = self.crew.actor("agent")
        self.plans[plan] += 1
        self.stage.tell(f"+ {actor.name}: errand {errand.number} {errand.items} {plan}")
        self.crew.begin(actor, self._agent(actor, errand, plan))

    async def _agent(self, actor: Actor, errand: Errand, plan: Plan) -> None:
        try:
            process = await self.crew.start(actor, f"serve-{actor.name}")
            requests = wanted(errand, plan, "agent:a", self.draw)
            await run_errand(process, requests, self.told, self.stage)
        finally:
            if actor.dead and self.crew.stormy:
                # Whoever replaces it knows the errand, not what became of it.
                soon_s = self.stage.now_s + 10 ** self.draw.uniform(0, 4)
                self._plan_agent(errand, Plan.another(self.draw), soon_s)

    async def _desk(self, actor: Actor, name: str) -> None:
        try:
            process = await self.crew.start(actor, f"desk-{name}")
            desk = Desk(
                name, process, self.provider, self.stage, self.draw, self.careless, self.deeds
            )
            while self.crew.stormy:
                if self._something_waits() or self.draw.random() < WHIM:
                    await self._sit(process, desk)
                await asyncio.sleep(10 ** self.draw.uniform(1, 4.3))
        except (WorkerFenced, DatabaseUnreachable):
            self.crew.gone(actor)
            self.plan_desk(name)
        finally:
            if actor.dead:
                self.crew.gone(actor)
                self.plan_desk(name)

    async def _sit(self, process: Process, desk: Desk) -> None:
        try:
            await process.passes.beat()
            await desk.sit()
            if self.draw.random() < BRAKES:
                await desk.brake(10 ** self.draw.uniform(1, 4) * self.slowness)
        except WorkerFenced:
            raise
        except OutliveError as error:
            self.stage.tell(f"    {desk.name}: {error.code}")

    def _something_waits(self) -> bool:
        """Whether there is anything for people: they are notified, and need not look."""
        return bool(self.line.peek(_WAITING))


_WAITING: Final = b"""
SELECT WHERE EXISTS (SELECT FROM proposals WHERE state = 'awaiting')
          OR EXISTS (SELECT FROM escalations WHERE closed_at IS NULL)"""

"""One world: everything that a seed decides, played to its end."""

import asyncio
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, LiteralString
from unittest.mock import patch
from uuid import UUID

from ledger import ids
from ledger.errors import DatabaseUnreachable, OutliveError, WorkerFenced
from sidecar.proposals.policy_file import PolicyFile
from tests.simulation.actor import Actor, Killed, Odds
from tests.simulation.agents import Acknowledged, Errand, Plan, run_errand, wanted
from tests.simulation.crew import Crew
from tests.simulation.line import Line
from tests.simulation.loop import VirtualLoop
from tests.simulation.people import Deeds, Desk
from tests.simulation.played import Played
from tests.simulation.process import POLICY, Host
from tests.simulation.provider import Provider
from tests.simulation.server import Server
from tests.simulation.stage import EPOCH, Stage
from tests.simulation.truth import CALM, DAY_S, HOUR_S, LIES, Facts
from tests.simulation.weather import Weather

QUIET_S: Final = 16 * DAY_S
"""After the storm nothing goes wrong any more for so long: the longest wait is 14 days."""
SLOW: Final = 0.3
"""How many worlds have outages of days."""
QUIET_LEAST_S: Final = 3 * HOUR_S
"""The first comparison of a closed record with the provider comes after an hour."""


@dataclass(slots=True)
class World:
    """A world while it is played."""

    seed: int
    server: Server
    loop: VirtualLoop = field(default_factory=VirtualLoop)
    stage: Stage = field(init=False)
    draw: Random = field(init=False)
    line: Line = field(init=False)
    provider: Provider = field(init=False)
    host: Host = field(init=False)
    deeds: Deeds = field(default_factory=Deeds)
    errands: list[Errand] = field(default_factory=list[Errand])
    told: list[Acknowledged] = field(default_factory=list[Acknowledged])
    crew: Crew = field(init=False)
    careless: float = 0.0
    slowness: float = 1.0
    storm_s: float = 0.0
    weather: Weather = field(init=False)

    def __post_init__(self) -> None:
        """Draw what the world is like."""
        self.stage = Stage(self.seed, self.loop)
        self.draw = Random(f"{self.seed}/world")  # noqa: S311  a seed, no secret
        self.line = Line(self.server.db, self.stage)
        facts = Facts.drawn(self.draw)
        self.provider = Provider(self.stage, Random(f"{self.seed}/provider"), facts)  # noqa: S311
        policy = PolicyFile(None)
        policy.policy = POLICY
        self.host = Host(self.stage, self.line, self.provider, policy)
        # In some worlds whatever is out of order stays so for days: keys are forgotten meanwhile.
        weeks = Random(f"{self.seed}/weeks").random() < SLOW  # noqa: S311
        self.slowness = 15.0 if weeks else 1.0
        self.crew = Crew(self.stage, self.line, self.host, self.draw, self.slowness)

    def play(self) -> Played:
        """To the end; the same seed plays the same."""
        self.server.fresh(UUID(int=Random(f"{self.seed}/id").getrandbits(128), version=4))  # noqa: S311
        draw = Random(f"{self.seed}/ids")  # noqa: S311

        def next_id() -> UUID:
            """Time-ordered, as the ledger's own."""
            ms = int((EPOCH.timestamp() + self.stage.now_s) * 1000)
            return UUID(int=(ms << 80) | (7 << 76) | (2 << 62) | draw.getrandbits(62))

        asyncio.set_event_loop(self.loop)
        try:
            with (
                patch.object(ids, "uuid7", next_id),
                patch.object(ids, "uuid4", lambda: UUID(int=draw.getrandbits(128), version=4)),
            ):
                main = self.loop.create_task(self._run())
                self.loop.set_exception_handler(lambda _, told: self._heard(told))
                try:
                    self.loop.run_until_complete(main)
                except RuntimeError:
                    if self.stage.trouble is None:
                        raise
                    self.crew.faults.append(
                        f"{type(self.stage.trouble).__name__}: {self.stage.trouble}"
                    )
        finally:
            self._close()
        return Played(
            self.seed,
            self.stage,
            self.line,
            self.provider,
            self.deeds,
            self.errands,
            self.told,
            self.crew.faults,
            self.storm_s,
            self.weather.off_spans,
        )

    async def _run(self) -> None:
        draw = self.draw
        wild = draw.choice([0.0, 0.3, 1.0, 1.0, 2.5])
        self.stage.odds = Odds(dies=0.004 * wild, loses=0.003 * wild, stalls=0.004 * wild)
        self.careless = draw.choice([0.0, 0.1, 0.4])
        self.provider.blips = draw.choice([0.0, 0.0, 0.1, 0.3])
        self.storm_s = 10 ** draw.uniform(3.3, 5.4)
        if self.provider.facts.lies:
            self.provider.luck |= LIES
        self._draw_errands()
        for n in range(draw.choice([1, 2, 2, 3])):
            self.crew.start_worker(f"w{n}", at_s=draw.uniform(0, 5))
        self.weather = Weather(
            self.stage, self.line, self.provider, self.errands, draw, self.storm_s, self.slowness
        )
        self.weather.plan()
        for n in range(draw.choice([1, 1, 2])):
            self._plan_desk(f"person:p{n}")
        await self.stage.until(self.storm_s)
        await self._calm()
        await self.stage.until(self.storm_s + QUIET_LEAST_S)
        while self.stage.now_s < self.storm_s + QUIET_S and self._something_open():
            await self.stage.until(self.stage.now_s + HOUR_S)
        if draw.random() < 0.1 and not self._asked():
            await self.stage.until(self.stage.now_s + 40 * DAY_S)

    def _something_open(self) -> bool:
        """Whether anything is neither closed, nor given up, nor before a person."""
        return self._any("state IN ('created', 'sent') AND NOT never_send AND NOT escalated")

    def _asked(self) -> bool:
        """Whether a question is open: it is looked after every hour, for ever."""
        return self._any("escalated")

    def _any(self, which: LiteralString) -> bool:
        row = self.line.db.execute(f"SELECT FROM operations WHERE {which} LIMIT 1").fetchone()
        return row is not None

    def _draw_errands(self) -> None:
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

    def _plan_agent(self, errand: Errand, plan: Plan, at_s: float) -> None:
        self.stage.at(at_s, lambda: self._start_agent(errand, plan))

    def _start_agent(self, errand: Errand, plan: Plan) -> None:
        actor = self.crew.actor("agent")
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

    def _plan_desk(self, name: str) -> None:
        def begin() -> None:
            if self.crew.stormy:
                self.crew.begin(actor := self.crew.actor(name), self._desk(actor, name))

        self.stage.at(self.stage.now_s + 10 ** self.draw.uniform(1, 3.5), begin)

    async def _desk(self, actor: Actor, name: str) -> None:
        try:
            process = await self.crew.start(actor, f"desk-{name}")
            desk = Desk(
                name, process, self.provider, self.stage, self.draw, self.careless, self.deeds
            )
            while self.crew.stormy:
                try:
                    await process.passes.beat()
                    await desk.sit()
                    if self.draw.random() < 0.04:
                        await desk.brake(10 ** self.draw.uniform(1, 4) * self.slowness)
                except WorkerFenced:
                    raise
                except OutliveError as error:
                    self.stage.tell(f"    {name}: {error.code}")
                await asyncio.sleep(10 ** self.draw.uniform(1, 4.3))
        except (WorkerFenced, DatabaseUnreachable):
            self.crew.gone(actor)
            self._plan_desk(name)
        finally:
            if actor.dead:
                self.crew.gone(actor)
                self._plan_desk(name)

    async def _calm(self) -> None:
        """From now on nothing goes wrong: what is open must end."""
        self.stage.tell("═ the storm is over")
        self.crew.stormy = False
        self.stage.odds = Odds()
        self.provider.luck = dict.fromkeys(CALM, 1)
        self.provider.blips = 0.0
        self.weather.clear()
        self.stage.thaw_all()
        self.line.run("DELETE FROM brakes")
        self.crew.start_worker("last", self.stage.now_s + 1)

    def _heard(self, told: dict[str, Any]) -> None:
        error = told.get("exception")
        if error is not None and not isinstance(error, Killed | asyncio.CancelledError):
            self.crew.faults.append(f"{told.get('message')}: {type(error).__name__}: {error}")

    def _close(self) -> None:
        """Let go of everything that still waits."""
        self.loop.set_exception_handler(_ignore)
        self.stage.odds = Odds()
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.on_idle(lambda _: self.loop.stop())
        self.loop.run_forever()
        self.loop.close()
        asyncio.set_event_loop(None)


def _ignore(_loop: asyncio.AbstractEventLoop, _told: dict[str, Any]) -> None:
    """What ends with the world is no news."""


def play(seed: int, server: Server) -> Played:
    """Play one world."""
    return World(seed, server).play()

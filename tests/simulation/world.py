"""One world: everything that a seed decides, played to its end."""

import asyncio
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final
from uuid import UUID

from sidecar.proposals.policy_file import PolicyFile
from tests.simulation.actor import Killed, Odds
from tests.simulation.bounds import LOOKED_EVERY_S
from tests.simulation.crew import Crew
from tests.simulation.fixed import fixed
from tests.simulation.line import Line
from tests.simulation.loop import VirtualLoop
from tests.simulation.played import Played
from tests.simulation.process import POLICY, Host, drawn_limits
from tests.simulation.provider import Provider
from tests.simulation.put_back import PutBack
from tests.simulation.server import Server
from tests.simulation.stage import Stage
from tests.simulation.town import Town
from tests.simulation.truth import CALM, DAY_S, HOUR_S, LIES, Facts
from tests.simulation.weather import Weather

QUIET_S: Final = 16 * DAY_S
"""After the storm nothing goes wrong any more for so long: the longest wait is 14 days."""
SLOW: Final = 0.3
"""How many worlds have outages of days."""
PUT_BACK: Final = 0.08
"""In how many a backup is put back."""
LONG: Final = 0.1
"""How many go on for weeks after everything has ended: closed records are watched."""
QUIET_LEAST_S: Final = 3 * HOUR_S
"""The first comparison of a closed record with the provider comes after an hour."""
_OPEN: Final = b"""SELECT id, decision FROM operations
 WHERE state IN ('created', 'sent') AND NOT never_send AND NOT escalated ORDER BY id"""
_ASKED: Final = b"SELECT FROM operations WHERE escalated LIMIT 1"


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
    crew: Crew = field(init=False)
    town: Town = field(init=False)
    weather: Weather = field(init=False)
    put_back: PutBack | None = None
    open_until: dict[UUID, tuple[float, str | None]] = field(
        default_factory=dict[UUID, tuple[float, str | None]]
    )

    def __post_init__(self) -> None:
        """Draw what the world is like."""
        self.stage = Stage(self.seed, self.loop)
        self.draw = draw = Random(f"{self.seed}/world")  # noqa: S311  a seed, no secret
        self.line = Line(self.server.db, self.stage, self.server.constant)
        facts = Facts.drawn(draw)
        self.provider = Provider(self.stage, Random(f"{self.seed}/provider"), facts)  # noqa: S311
        policy = PolicyFile(None)
        policy.policy = POLICY
        host = Host(self.stage, self.line, self.provider, policy, drawn_limits(draw))
        # In some worlds whatever is out of order stays so for days: keys are forgotten meanwhile.
        slowness = 15.0 if draw.random() < SLOW else 1.0
        storm_s = 10 ** draw.uniform(3.3, 5.4)
        self.crew = Crew(self.stage, self.line, host, draw, slowness)
        careless = draw.choice([0.0, 0.1, 0.4])
        town = Town(
            self.stage, self.line, self.provider, self.crew, draw, storm_s, slowness, careless
        )
        self.town = town
        self.weather = Weather(
            self.stage, self.line, self.provider, town.errands, draw, storm_s, slowness
        )

    def play(self) -> Played:
        """To the end; the same seed plays the same."""
        self.server.fresh(UUID(int=Random(f"{self.seed}/id").getrandbits(128), version=4))  # noqa: S311
        asyncio.set_event_loop(self.loop)
        try:
            with fixed(self.seed, self.stage):
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
            self.town.deeds,
            self.town.errands,
            self.town.told,
            self.crew.faults,
            self.town.storm_s,
            self.weather.off_spans,
            self.open_until,
            len(self.crew.host.lost),
            None if self.put_back is None else self.put_back.lost,
            self.town.plans,
            self.weather.count,
        )

    async def _run(self) -> None:
        draw, storm_s = self.draw, self.town.storm_s
        wild = draw.choice([0.0, 0.3, 1.0, 1.0, 2.5])
        self.stage.odds = Odds(dies=0.004 * wild, loses=0.003 * wild, stalls=0.004 * wild)
        self.provider.blips = draw.choice([0.0, 0.0, 0.1, 0.3])
        if self.provider.facts.lies:
            self.provider.luck |= LIES
        self.town.draw_errands()
        for n in range(draw.choice([1, 2, 2, 3])):
            self.crew.start_worker(f"w{n}", at_s=draw.uniform(0, 5))
        self.weather.plan()
        if draw.random() < PUT_BACK:
            self.put_back = PutBack(
                self.stage, self.line, self.crew, self.town.deeds, self.server.dsn, draw
            )
            self.put_back.plan(storm_s)
            self.weather.count["a backup put back"] += 1
        for n in range(draw.choice([1, 2, 2])):
            self.town.plan_desk(f"person:p{n}")
        await self.stage.until(storm_s)
        await self._calm()
        await self.stage.until(storm_s + QUIET_LEAST_S)
        while self.stage.now_s < storm_s + QUIET_S and self._something_open():
            await self.stage.until(self.stage.now_s + LOOKED_EVERY_S)
        if draw.random() < LONG and not self._asked():
            await self.stage.until(self.stage.now_s + 40 * DAY_S)

    def _something_open(self) -> bool:
        """Whether anything is neither closed, nor given up, nor before a person."""
        rows = self.line.peek(_OPEN)
        self.open_until |= {row["id"]: (self.stage.now_s, row["decision"]) for row in rows}
        return bool(rows)

    def _asked(self) -> bool:
        """Whether a question is open: it is looked after every hour, for ever."""
        return bool(self.line.peek(_ASKED))

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

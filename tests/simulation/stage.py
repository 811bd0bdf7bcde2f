"""The stage: who does the next step, and what befalls them. The seed decides, and nothing else.

Every statement and every step at the provider waits here for its turn, so that one is in flight
in the world at a time. When nobody has anything to do, time moves on to whatever comes next.
"""

import asyncio
import heapq
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Final

from tests.simulation.actor import WHO, Actor, Fate, Killed, Odds, clock, owned
from tests.simulation.loop import VirtualLoop

EPOCH: Final = datetime(2030, 1, 1, tzinfo=UTC)
TICK_S: Final = 0.001
"""What passes when another actor has its turn."""
TURNS_MOST: Final = 20_000
SAME_ACTOR: Final = 0.6
"""How often whoever had the last turn goes on."""
DELICATE: Final = 6.0
"""How much likelier something befalls an actor around a sending."""
_DELICATE_STEPS: Final = frozenset(
    {
        "begin_attempt",
        "record_answer",
        "first byte",
        "answer",
        "seen",
        "claim",
        "authorize",
        "apply_decision",
        "approve",
        "transaction",
    }
)


class Stuck(Exception):
    """The world goes round in circles."""


@dataclass(eq=False, slots=True)
class _Turn:
    actor: Actor
    what: str
    granted: asyncio.Future[Fate]


class Stage:
    """Hands out turns and moves time."""

    def __init__(self, seed: int, loop: VirtualLoop) -> None:
        self.draw = Random(f"{seed}/stage")  # noqa: S311  a seed, no secret
        self.loop = loop
        self.odds = Odds()
        self.turns = 0
        self.told: list[str] = []
        self.fates: Counter[Fate] = Counter()
        self.next_due_s: Callable[[], float | None] = lambda: None
        """When an operation is due, in the world's seconds; asked when nobody has a turn."""
        self.on_due: Callable[[], bool] = lambda: False
        """Wakes whoever may take what is due; whether there was anybody."""
        self.on_leap: Callable[[], None] = lambda: None
        """Called before the next turn when time has moved on by a heartbeat or so."""
        self.trouble: Exception | None = None
        self._waiting: list[_Turn] = []
        self._agenda: list[tuple[float, int, Callable[[], object]]] = []
        self._count = 0
        self._last: Actor | None = None
        self._due_from_s = 0.0
        """Before which nobody looks for what is due; infinite while nobody could."""
        self._leaped = False
        loop.on_idle(self._idle)
        loop.set_task_factory(owned)

    @property
    def now_s(self) -> float:
        """Seconds since the world began."""
        return self.loop.time()

    @property
    def now(self) -> datetime:
        """The true time."""
        return EPOCH + timedelta(seconds=self.now_s)

    def tell(self, words: str) -> None:
        """Write into the story."""
        self.told.append(f"{clock(self.now_s)}  {words}")

    def at(self, at_s: float, do: Callable[[], object]) -> None:
        """Plan something."""
        self._count += 1
        heapq.heappush(self._agenda, (max(at_s, self.now_s), self._count, do))

    async def until(self, at_s: float) -> None:
        """Wait for a moment."""
        come = self.loop.create_future()
        self.at(at_s, lambda: _resolve(come))
        await come

    def begin(self, actor: Actor, life: Coroutine[Any, Any, None]) -> None:
        """Start an actor's main task."""
        token = WHO.set(actor)
        try:
            self.loop.create_task(life, name=actor.name)
        finally:
            WHO.reset(token)

    async def turn(self, what: str) -> Fate:
        """Wait for one's turn; what befalls the caller, unless that is to wait longer or to die.

        Raises:
            Killed: Its process is gone.
        """
        actor = WHO.get()
        if actor is None:
            return Fate.GO
        if actor.dead:
            raise Killed(actor.name)
        turn = _Turn(actor, what, self.loop.create_future())
        self._waiting.append(turn)
        return await turn.granted

    def kill(self, actor: Actor, where: str) -> None:
        """End a process at once; nothing of it writes or sends any more."""
        if actor.dead:
            return
        actor.dead = True
        self.tell(f"✗ {actor.name} dies ({where})")
        mine = [turn for turn in self._waiting if turn.actor is actor]
        self._waiting = [turn for turn in self._waiting if turn.actor is not actor]
        for turn in mine:
            if not turn.granted.done():
                turn.granted.set_exception(Killed(actor.name))
        waiting = {turn.granted for turn in mine}
        for task in list(actor.tasks):
            # A task that waits for its turn gets `Killed`; any other is cut where it stands.
            if (
                not task.done()
                and task is not asyncio.current_task(self.loop)
                and (getattr(task, "_fut_waiter", None) not in waiting)
            ):
                task.cancel()

    def freeze(self, actor: Actor, for_s: float, where: str) -> None:
        """Stop a process as by SIGSTOP; it goes on later as if nothing had been."""
        actor.frozen_until_s = self.now_s + for_s
        self.tell(f"‖ {actor.name} stalls for {for_s:.0f} s ({where})")
        self.at(actor.frozen_until_s, lambda: self._thaw(actor))

    def look_again(self) -> None:
        """Somebody is there who may take what is due."""
        if self._due_from_s == float("inf"):
            self._due_from_s = self.now_s

    def thaw_all(self) -> None:
        """Every stalled process goes on."""
        for turn in list(self._waiting):
            self._thaw(turn.actor)

    def _thaw(self, actor: Actor) -> None:
        if actor.frozen_until_s is not None and not actor.dead:
            actor.frozen_until_s = None
            self.look_again()
            self.tell(f"▶ {actor.name} goes on")

    def _idle(self, timer_s: float | None) -> None:
        try:
            self._next(timer_s)
        except Exception as error:  # noqa: BLE001  told by whoever waits for the world's end
            self.trouble = error
            self.loop.stop()

    def _next(self, timer_s: float | None) -> None:
        self._waiting = [turn for turn in self._waiting if not turn.granted.done()]
        ready = [turn for turn in self._waiting if turn.actor.frozen_until_s is None]
        if ready:
            self._grant(self._pick(ready))
        else:
            self._pass_time(timer_s)

    def _pick(self, ready: list[_Turn]) -> _Turn:
        same = [turn for turn in ready if turn.actor is self._last]
        if same and self.draw.random() < SAME_ACTOR:
            return self.draw.choice(same)
        return self.draw.choice(ready)

    def _grant(self, turn: _Turn) -> None:
        if self._leaped:
            self._leaped = False
            self.on_leap()
        self.turns += 1
        if self.turns > TURNS_MOST:
            raise Stuck(f"more than {TURNS_MOST} steps")
        if turn.actor is not self._last:
            self._last = turn.actor
            self.loop.move_to(self.now_s + TICK_S)
        fate = self._fate(turn)
        self.fates[fate] += 1
        self.tell(f"{turn.actor.name}: {turn.what}{'' if fate is Fate.GO else f'   ← {fate}'}")
        if fate is Fate.STALLS:
            self.freeze(turn.actor, 10 ** self.draw.uniform(0.5, 5.3), f"before {turn.what}")
            return
        if fate is Fate.DIES_BEFORE:
            self.kill(turn.actor, f"before {turn.what}")
            return
        self._waiting.remove(turn)
        turn.granted.set_result(fate)

    def _fate(self, turn: _Turn) -> Fate:
        heavier = DELICATE if turn.what in _DELICATE_STEPS else 1.0
        roll = self.draw.random() / heavier
        odds = self.odds
        if roll < odds.dies:
            return self.draw.choice([Fate.DIES_BEFORE, Fate.DIES_AFTER, Fate.DIES_INSIDE])
        if roll < odds.dies + odds.loses:
            return self.draw.choice([Fate.LOSES_BEFORE, Fate.LOSES_AFTER])
        if roll < odds.dies + odds.loses + odds.stalls:
            return Fate.STALLS
        return Fate.GO

    def _pass_time(self, timer_s: float | None) -> None:
        before_s = self.now_s
        moments = [] if timer_s is None else [before_s + timer_s]
        if self._agenda:
            moments.append(self._agenda[0][0])
        due_s = self.next_due_s() if self._due_from_s < float("inf") else None
        if due_s is not None:
            due_s = max(due_s + TICK_S, self._due_from_s, before_s)
            moments.append(due_s)
        if not moments:
            raise Stuck("nothing will ever happen again")
        next_s = min(moments)
        self.loop.move_to(next_s)
        self._leaped = self._leaped or next_s - before_s > 1
        if due_s is not None and due_s <= next_s:
            # A pass that takes nothing is not repeated at the same instant.
            self._due_from_s = next_s + 0.05 if self.on_due() else float("inf")
        while self._agenda and self._agenda[0][0] <= next_s:
            heapq.heappop(self._agenda)[2]()


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)

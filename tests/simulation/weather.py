"""What goes wrong around the processes: the provider, the database's clock, hands, releases."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from random import Random

from dispatcher.provider import Trouble
from ledger.model import Money
from tests.simulation.adapter import KINDS
from tests.simulation.agents import Errand
from tests.simulation.line import Line
from tests.simulation.played import OffSpan
from tests.simulation.provider import Provider
from tests.simulation.stage import Stage
from tests.simulation.truth import THROTTLED, Luck


@dataclass(slots=True)
class Weather:
    """Plans it, until the storm is over."""

    stage: Stage
    line: Line
    provider: Provider
    errands: list[Errand]
    draw: Random
    storm_s: float
    slowness: float
    off_spans: list[OffSpan] = field(default_factory=list[OffSpan])
    count: Counter[str] = field(default_factory=Counter[str])
    """How often what went wrong, for the figures."""
    _from_s: float = 0.0

    def plan(self) -> None:
        """Plan what will go wrong, and when it is well again."""
        draw, stage, slow = self.draw, self.stage, self.slowness
        for _ in range(draw.choice([0, 0, 1, 2])):
            from_s = draw.uniform(0, self.storm_s)
            trouble = draw.choice([Trouble.UNREACHABLE, Trouble.UNAUTHORIZED])
            stage.at(from_s, partial(self._trouble, trouble))
            stage.at(from_s + 10 ** draw.uniform(1, 4.5) * slow, lambda: self._trouble(None))
        if draw.random() < 0.2:
            stage.at(draw.uniform(0, self.storm_s), self._roll_credential)
        if draw.random() < 0.2:
            stage.at(draw.uniform(0, self.storm_s), self._dispute)
        if draw.random() < 0.2:
            stage.at(draw.uniform(0, self.storm_s), self._hand)
        if draw.random() < 0.15:
            from_s = draw.uniform(0, self.storm_s)
            usual = dict(self.provider.luck)
            stage.at(from_s, lambda: self._luck(THROTTLED))
            stage.at(from_s + 10 ** draw.uniform(2, 4), lambda: self._luck(usual))
        if draw.random() < 0.1:
            from_s = draw.uniform(0, self.storm_s)
            stage.at(from_s, lambda: self._drift("another release"))
            stage.at(from_s + 10 ** draw.uniform(2, 4.5) * slow, lambda: self._drift(None))
        if draw.random() < 0.15:
            self._plan_standby(draw.uniform(0, self.storm_s))

    def _luck(self, luck: Mapping[Luck, int]) -> None:
        if self.stage.now_s < self.storm_s:
            self.stage.tell(f"~ requests: {', '.join(luck)}")
            self.count["throttled"] += luck is THROTTLED
            self.provider.luck = dict(luck)

    def _drift(self, why: str | None) -> None:
        self.stage.tell(f"~ drift: {why}")
        self.count["another release"] += why is not None
        self.provider.drift = why

    def _trouble(self, trouble: Trouble | None) -> None:
        self.stage.tell(f"~ the provider's look-ups: {trouble or 'well again'}")
        if self.provider.trouble is not None:
            self.provider.troubled.append((self._from_s, self.stage.now_s))
        self._from_s = self.stage.now_s
        if trouble is not None:
            self.count[f"look-ups {trouble}"] += 1
        self.provider.trouble = trouble

    def _roll_credential(self) -> None:
        self.stage.tell("~ another credential")
        self.count["another credential"] += 1
        self.provider.credential = "cred-2"

    def _dispute(self) -> None:
        on = self.draw.choice(self.draw.choice(self.errands).items)[0]
        self.stage.tell(f"~ {on} is disputed")
        self.count["disputed"] += 1
        self.provider.gone[on] = "DISPUTED"

    def _hand(self) -> None:
        errand = self.draw.choice(self.errands)
        on, amount = self.draw.choice(errand.items)
        can = KINDS[errand.kind]
        money = None if amount is None else Money(amount, "eur")
        self.count["done by hand"] += 1
        self.provider.by_hand(on, money, target_state=can.target_state)

    def _plan_standby(self, from_s: float) -> None:
        off_s = self.draw.choice([-1, 1]) * 10 ** self.draw.uniform(1.9, 4.3)
        end_s = from_s + 10 ** self.draw.uniform(2, 4.3)

        def fail_over() -> None:
            self.stage.tell(f"~ a standby takes over, its clock is off by {off_s:.0f} s")
            self.line.off_s = off_s
            self.count["standby with another clock"] += 1

        def repair() -> None:
            self.stage.tell("~ the database's clock is right again")
            self.line.off_s = 0.0
            self.off_spans.append(OffSpan(from_s, self.stage.now_s, off_s))

        self.stage.at(from_s, fail_over)
        self.stage.at(end_s, repair)

    def clear(self) -> None:
        """From now on nothing goes wrong."""
        self._drift(None)
        self._trouble(None)

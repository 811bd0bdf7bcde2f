"""A backup that is put back in the middle of a world: the rows are old, the world went on.

Every process dies with the old database. The new one is told that it was restored, before anybody
starts; a person keeps at it until it can be released.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any, Final

from ledger.errors import DatabaseUnreachable, WorkerFenced
from ledger.postgres.answers import Given
from ledger.postgres.restoring import NotClean, Restorations
from recovery.sweep import ReverseSweep
from tests.simulation.actor import Actor
from tests.simulation.adapter import KINDS
from tests.simulation.crew import Crew
from tests.simulation.hands import Deeds
from tests.simulation.line import Line
from tests.simulation.process import TIMING, Process
from tests.simulation.restoring import Backup
from tests.simulation.shared import ledger_on
from tests.simulation.stage import EPOCH, Stage
from tests.simulation.truth import HOUR_S

BY: Final = "person:operator"
AGAIN_S: Final = 900.0
"""How often the person looks how far it has come."""
SETTLE_S: Final = max(TIMING.settle_s(can) for can in KINDS.values())


@dataclass(slots=True)
class PutBack:
    """Plans it, and sees it through."""

    stage: Stage
    line: Line
    crew: Crew
    deeds: Deeds
    dsn: str
    draw: Random
    lost: tuple[float, float] | None = None
    """From when until when nothing of the world is remembered, once that is so."""
    released_s: float | None = None
    _backup: Backup | None = None
    _taken_s: float = 0.0

    def plan(self, storm_s: float) -> None:
        """Plan both moments, within the storm."""
        from_s = self.draw.uniform(0, storm_s / 2)
        to_s = min(from_s + 10 ** self.draw.uniform(1.5, 4.5), storm_s * 0.9)
        self.stage.at(from_s, self._take)
        self.stage.at(to_s, self._put)

    def _take(self) -> None:
        self.stage.tell("~ a backup is taken")
        self._backup, self._taken_s = Backup.of(self.dsn), self.stage.now_s

    def _put(self) -> None:
        assert self._backup is not None
        self.stage.tell("~ the backup is put back; every process is gone")
        self.crew.kill_all("the database is gone")
        self._backup.put_back(self.dsn)
        self.line.forget()
        self.lost = (self._taken_s, self.stage.now_s)
        # What people did since is no more in the record.
        after = [grant for grant, at_s in self.deeds.revoked.items() if at_s > self._taken_s]
        for grant in after:
            del self.deeds.revoked[grant]
        taken = EPOCH + timedelta(seconds=self._taken_s + self.line.off_s)
        restorations = Restorations(ledger_on(self.line).pool)
        _at_once(restorations.begin(by=BY, reason="a backup was put back", backup_at=taken))
        self._begin()

    def _begin(self) -> None:
        actor = self.crew.actor("operator")
        self.crew.begin(actor, self._operate(actor))

    async def _operate(self, actor: Actor) -> None:
        try:
            process = await self.crew.start(actor, "operator")
            while self.released_s is None:
                with suppress(DatabaseUnreachable):
                    await self._make_good(process)
                await asyncio.sleep(AGAIN_S)
        except (WorkerFenced, DatabaseUnreachable):
            self._again(actor)
        finally:
            if actor.dead:
                self._again(actor)

    def _again(self, actor: Actor) -> None:
        self.crew.gone(actor)
        self.stage.at(self.stage.now_s + HOUR_S, self._begin)

    async def _make_good(self, process: Process) -> None:
        """Sweep, answer what has no operation, and try to release."""
        await process.passes.beat()
        kinds = [process.types.get(name) for name in process.types.names]
        await ReverseSweep(process.ledger, kinds, "sweep:operator").run()
        ledger = process.ledger
        for question in await ledger.escalations.open_ones(limit=1_000):
            if question.scope == "effect":
                await ledger.answers.close(Given(question.id, BY, "seen", "-"))
        try:
            await ledger.restorations.release(by=BY, settle_s=SETTLE_S)
        except NotClean as error:
            stands = await ledger.restorations.last(settle_s=SETTLE_S)
            if stands is None or stands.released_at is None:
                self.stage.tell(f"    not released: {error}")
                return
        # At once, or the last time, when the answer got lost.
        self.released_s = self.stage.now_s
        self.stage.tell("~ the restored backup is released")


def _at_once(work: Coroutine[Any, Any, object]) -> None:
    """Run what waits for nothing: it is nobody's turn, and the line answers at once."""
    try:
        work.send(None)
    except StopIteration:
        return
    raise RuntimeError("it had to wait")

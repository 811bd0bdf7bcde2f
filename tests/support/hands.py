"""One worker process in a test's hands: it works when told to, and can be killed anywhere."""

import asyncio
from dataclasses import dataclass
from typing import Any

from dispatcher.deadline import SystemClock
from dispatcher.dispatch import Dispatcher
from ledger.commands import Worker
from ledger.escalations import Escalation
from recovery.passes import Passes
from recovery.verdicts import AnswerGiven, Resolved, Verdict, Verdicts


@dataclass(frozen=True, slots=True)
class OffClock:
    """The machine's clock, wrong by so much."""

    off_s: float

    def boot_s(self) -> float:
        """Seconds since boot."""
        return SystemClock().boot_s() + self.off_s


@dataclass(frozen=True, slots=True)
class Hands:
    """One worker process, whose passes the test calls."""

    worker: Worker
    passes: Passes
    verdicts: Verdicts
    dispatcher: Dispatcher

    async def step(self) -> int:
        """One heartbeat and one pass, to its end; how many operations were taken."""
        await self.passes.beat()
        taken = await self.passes.orphans()
        await self.passes.drain()
        return taken

    async def begin(self) -> None:
        """Take what is due and begin with it; it may hang."""
        await self.passes.beat()
        await self.passes.orphans()

    async def die(self) -> None:
        """End at once, wherever it is, as by SIGKILL; nothing more is written."""
        tasks = self.tasks()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def tasks(self) -> list[asyncio.Task[None]]:
        """What it has in hand: one task an operation, named by its id."""
        return list(self.passes._tasks)  # pyright: ignore[reportPrivateUsage]  no other way to kill

    async def answer(self, escalation: Escalation, verdict: Verdict, **given: Any) -> Resolved:
        """A person's answer through this process."""
        told = AnswerGiven(verdict, given.pop("by", "person:ines"), given.pop("note", "-"), **given)
        return await self.verdicts.resolve(escalation, told)

"""A process of the world: the real ledger, dispatcher and recovery, on the shared line."""

from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Final
from uuid import UUID

from dispatcher.dispatch import Dispatcher
from dispatcher.timing import Timing
from ledger.commands import Worker
from ledger.model import Operation
from ledger.policy import Limit, Policy, Rule, TwoPeople
from ledger.postgres.ledger import Ledger
from recovery.case import Decision
from recovery.closing import ask_about_closing_windows
from recovery.limits import Limits
from recovery.passes import Passes
from recovery.recover import Recovery
from recovery.verdicts import Verdicts
from sidecar.proposals.policy_file import PolicyFile
from sidecar.proposals.proposing import Proposer
from sidecar.proposals.reproposing import Reproposing
from sidecar.proposals.sending import Sender
from sidecar.registry import Types
from tests.simulation.actor import Actor
from tests.simulation.adapter import KINDS, types_at
from tests.simulation.line import Line
from tests.simulation.provider import Provider
from tests.simulation.shared import ledger_on
from tests.simulation.stage import Stage

TIMING = Timing()
_ALL: Final = tuple(f"sim.{kind}" for kind in KINDS)
DAILY_MINOR: Final = 6_000
"""What the policy lets an agent move in a day, in minor units."""
POLICY: Final = Policy(
    version=1,
    rules=(
        Rule(
            name="small",
            types=_ALL,
            total_at_most_minor={"eur": 4_000},
            items_at_most=4,
            recipients_at_most=4,
        ),
    ),
    two_people=(TwoPeople(types=_ALL, above_minor={"eur": 9_000}),),
    answers_by_two_people_above_minor={"eur": 4_000},
    limits=(Limit(name="daily", types=_ALL, per="agent", at_most_minor={"eur": DAILY_MINOR}),),
)


def drawn_limits(draw: Random) -> Limits:
    """What recovery may do by itself: in few worlds so little that it holds back."""
    if draw.random() < 0.85:
        return Limits()
    return Limits(resends_per_hour=1, resent_minor_per_hour=2_000, reads_per_s=0.02, reads_burst=4)


@dataclass(frozen=True, slots=True)
class BootClock:
    """A process's clock: the world's, which runs through suspend."""

    stage: Stage

    def boot_s(self) -> float:
        """Seconds since boot."""
        return self.stage.now_s


class Counted(Recovery):
    """Recovery as it is; what the statement stopped is kept: that is the table's first row."""

    lost: list[UUID]

    async def handle(self, operation: Operation) -> Decision | None:
        """As it is."""
        decision = await super().handle(operation)
        if decision is None:
            self.lost.append(operation.id)
        return decision


@dataclass(frozen=True, slots=True)
class Process:
    """What runs in it."""

    actor: Actor
    ledger: Ledger
    worker: Worker
    passes: Passes
    verdicts: Verdicts
    proposer: Proposer
    sender: Sender
    overtaken: Reproposing
    types: Types

    async def keep_up(self, draw: Random) -> None:
        """What a worker does now and then beside recovery."""
        await self.overtaken.run()
        name = draw.choice(self.types.names)
        await ask_about_closing_windows(self.ledger, self.types.get(name))


@dataclass(frozen=True, slots=True)
class Host:
    """What every process of a world shares."""

    stage: Stage
    line: Line
    provider: Provider
    policy: PolicyFile
    limits: Limits
    lost: list[UUID] = field(default_factory=list[UUID])
    """Operations that were lost to another worker, or to something learned, while decided about."""

    async def start(self, actor: Actor, identity: str, draw: Random) -> Process:
        """Start a process, as its actor; it announces itself."""
        ledger = ledger_on(self.line)
        await ledger.__aenter__()
        worker = Worker(UUID(int=draw.getrandbits(128), version=4), identity, "here", 1)
        types = types_at(self.provider, lambda: -actor.off_s)
        clock = BootClock(self.stage)
        dispatcher = Dispatcher(ledger, types, worker, TIMING, clock)

        def wall_s() -> float:
            return (self.stage.now + timedelta(seconds=actor.off_s)).timestamp()

        recovery = Counted(ledger, types, dispatcher, worker, TIMING, self.limits, wall_s=wall_s)
        recovery.lost = self.lost
        passes = Passes(ledger, recovery, worker, TIMING, self.limits)
        await passes.register()
        proposer = Proposer(ledger, types, self.policy, lease_s=TIMING.lease_s)
        return Process(
            actor,
            ledger,
            worker,
            passes,
            Verdicts(
                ledger,
                types,
                dispatcher,
                worker,
                TIMING,
                self.limits,
                above=lambda: POLICY.answers_by_two_people_above_minor,
                wall_s=wall_s,
            ),
            proposer,
            Sender(ledger, dispatcher),
            Reproposing(ledger, types, proposer),
            types,
        )

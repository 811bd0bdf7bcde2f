"""A process of the world: the real ledger, dispatcher and recovery, on the shared line."""

from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Final
from uuid import UUID

from dispatcher.dispatch import Dispatcher
from dispatcher.timing import Timing
from ledger.commands import Worker
from ledger.policy import Policy, Rule
from ledger.postgres.ledger import Ledger
from recovery.limits import Limits
from recovery.passes import Passes
from recovery.recover import Recovery
from recovery.verdicts import Verdicts
from sidecar.proposals.policy_file import PolicyFile
from sidecar.proposals.proposing import Proposer
from sidecar.proposals.sending import Sender
from sidecar.registry import Types
from tests.simulation.actor import Actor
from tests.simulation.adapter import KINDS, SimType
from tests.simulation.line import Line, ledger_on
from tests.simulation.provider import Provider
from tests.simulation.stage import Stage

TIMING = Timing()
LIMITS = Limits()
POLICY: Final = Policy(
    version=1,
    rules=(
        Rule(
            name="small",
            types=tuple(f"sim.{kind}" for kind in KINDS),
            total_at_most_minor={"eur": 4_000},
            items_at_most=3,
            recipients_at_most=3,
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class BootClock:
    """A process's clock: the world's, which runs through suspend."""

    stage: Stage

    def boot_s(self) -> float:
        """Seconds since boot."""
        return self.stage.now_s


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


@dataclass(frozen=True, slots=True)
class Host:
    """What every process of a world shares."""

    stage: Stage
    line: Line
    provider: Provider
    policy: PolicyFile

    async def start(self, actor: Actor, identity: str, draw: Random) -> Process:
        """Start a process, as its actor; it announces itself."""
        ledger = ledger_on(self.line)
        await ledger.__aenter__()
        worker = Worker(UUID(int=draw.getrandbits(128), version=4), identity, "here", 1)
        types = self._types(actor, tells_skew=True)
        # `Verdicts` judges by the machine's own clock, which is not this world's.
        silent = self._types(actor, tells_skew=False)
        clock = BootClock(self.stage)
        dispatcher = Dispatcher(ledger, types, worker, TIMING, clock)

        def wall_s() -> float:
            return (self.stage.now + timedelta(seconds=actor.off_s)).timestamp()

        recovery = Recovery(
            ledger,
            types,
            dispatcher,
            worker,
            TIMING,
            LIMITS,
            wall_s=wall_s,
        )
        passes = Passes(ledger, recovery, worker, TIMING, LIMITS)
        await passes.register()
        return Process(
            actor,
            ledger,
            worker,
            passes,
            Verdicts(ledger, silent, dispatcher, worker, TIMING, LIMITS),
            Proposer(ledger, types, self.policy, lease_s=TIMING.lease_s),
            Sender(ledger, dispatcher),
        )

    def _types(self, actor: Actor, *, tells_skew: bool) -> Types:
        def skew_s() -> float | None:
            return -actor.off_s if tells_skew else None

        return Types(
            [
                SimType(f"sim.{name}", can, self.provider, skew_s=skew_s)
                for name, can in KINDS.items()
            ]
        )

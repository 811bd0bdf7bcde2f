"""Runs, approvals and messages around the provider in process; the ledger's clock stands still.

Every service is made anew on each use, as by a process that has just started: what a test leaves
half done, another "process" goes on with.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import UUID

import pytest

from dispatcher.provider import Capabilities, OperationType, Words
from ledger.model import Operation
from ledger.policy import Policy, Rule
from ledger.postgres.outbox import Channel, Kind
from ledger.proposals import Approval, Proposal
from ledger.runs import NewCall, NewRun, Run
from sidecar.notify.addresses import Addresses
from sidecar.proposals.policy_file import PolicyFile
from sidecar.proposals.proposing import Proposed, Proposer, Wanted
from sidecar.proposals.reproposing import Reproposing
from sidecar.proposals.sending import Sender
from sidecar.proposals.suspending import Hands as SendingHands
from sidecar.proposals.suspending import Suspending
from sidecar.proposals.waiting import Waits
from sidecar.registry import Types
from sidecar.worker.runs_pass import RunsPass
from tests.support import fake_provider as fake
from tests.support.fake_provider import FakeProvider
from tests.support.fake_type import FakeType
from tests.support.hands import Hands
from tests.support.ledgers import ledger_at
from tests.support.world import FakeWorld

AGENT: Final = "agent:planner"
PERSON: Final = "person:amaia"
URL: Final = "https://agents.example.com/resume"
KINDS: Final = {
    "fake.refund": fake.KEYED,
    "fake.credit": fake.KEYED,
    "fake.mail": fake.KEYED,
    "fake.note": replace(fake.KEYED, independent=True),
    "fake.look_up": fake.LOOK_UP,
}
SMALL: Final = Policy(
    version=1,
    rules=(
        Rule(
            name="small",
            types=("fake.refund", "fake.mail", "fake.note"),
            total_at_most_minor={"eur": 2_000},
            items_at_most=10,
            recipients_at_most=10,
        ),
    ),
)
"""Up to 20 EUR go by themselves; credits never."""


class Worded(FakeType):
    """A kind of effect that can be put before people."""

    words = Words("Refund", "customer", "customers", None, "Costs money.")

    def __init__(self, name: str, capabilities: Capabilities, provider: FakeProvider) -> None:
        super().__init__(name, capabilities, provider)
        if name == "fake.credit":
            self.family = "fake.refund"  # another tool for the same effect


@dataclass(slots=True)
class Bureau(FakeWorld):
    """The world, and the services of a process in it."""

    policy: PolicyFile = field(default_factory=lambda: PolicyFile(None))

    def proposer(self) -> Proposer:
        """A fresh one."""
        return Proposer(self.ledger, self.types, self.policy, lease_s=90)

    def suspending(self, hands: Hands | None = None) -> Suspending:
        """A fresh one; with `hands`, what the policy approves is sent at once."""
        sending = (
            None
            if hands is None
            else SendingHands(Sender(self.ledger, hands.dispatcher), hands.worker)
        )
        return Suspending(
            self.ledger,
            self.types,
            self.proposer(),
            Waits(self.ledger.pool, every_s=0.01),
            Addresses.of(["agents.example.com"]),
            sending,
            patience_s=5.0 if hands is not None else 0.0,
        )

    async def propose(
        self,
        items: Sequence[Mapping[str, Any]],
        *,
        kind: str = "fake.refund",
        key: str = "k1",
        agent: str = AGENT,
    ) -> Proposed:
        """Ask for a batch."""
        return await self.proposer().propose(Wanted(kind, items, agent, key))

    async def approve(self, proposal_id: UUID, by: str = PERSON, **how: Any) -> None:
        """A person says yes to what stands there now."""
        found = await self.ledger.proposals.get(proposal_id)
        await self.proposer().approve(Approval(found.id, found.version, found.digest, by, **how))

    async def reject(self, proposal_id: UUID, reason: str = "no", by: str = PERSON) -> None:
        """A person says no."""
        found = await self.ledger.proposals.get(proposal_id)
        await self.ledger.proposals.reject(
            found.id, version=found.version, digest=found.digest, by=by, reason=reason
        )

    async def change(self, proposal_id: UUID, items: Sequence[Mapping[str, Any]]) -> Proposal:
        """A person changes what was asked."""
        found = await self.ledger.proposals.get(proposal_id)
        return await self.proposer().change(
            *(found, items), version=found.version, digest=found.digest, by=PERSON, reason="less"
        )

    async def suspend(self, *calls: NewCall, hands: Hands | None = None, **more: Any) -> Run:
        """An agent hands a turn over."""
        given: dict[str, Any] = {"agent": AGENT, "run_key": "run-1", "checkpoint": {"at": 1}}
        given |= {"steps_used": 3, **more}
        new = NewRun(**given, calls=calls)
        return await self.suspending(hands).suspend(new)

    async def runs_pass(self) -> int:
        """One pass of any worker, once its time has come; how many runs became ready."""
        await self.later(61)
        return await RunsPass(self.ledger, self.suspending()).run()

    async def overtaken_pass(self) -> int:
        """One pass that asks again."""
        return await Reproposing(self.ledger, self.types, self.proposer()).run()

    async def messages(self, kind: Kind, event: str) -> list[Mapping[str, Any]]:
        """What has been put in for a channel."""
        if kind is not Kind.RESUME:
            channel = Channel(kind, ("proposal", "escalation", "run"))
            await self.ledger.outbox.fan_out([channel], limit=1000)
        async with self.ledger.pool.connection() as connection:
            cursor = await connection.execute(
                "SELECT subject, payload FROM outbox WHERE kind = %s ORDER BY created_at, key",
                [kind.value],
            )
            rows = await cursor.fetchall()
        return [row for row in rows if row["payload"]["event"] == event]

    async def awaiting(self) -> list[Proposal]:
        """Everything that waits for a person, the oldest first."""
        async with self.ledger.pool.connection() as connection:
            cursor = await connection.execute(
                "SELECT id FROM proposals WHERE state = 'awaiting' ORDER BY created_at, id"
            )
            rows = await cursor.fetchall()
        return await self.ledger.proposals.several([row["id"] for row in rows])

    async def operations(self, proposal_id: UUID) -> list[Operation]:
        """What a decided proposal became, in order."""
        found = await self.ledger.proposals.get(proposal_id)
        made = await self.ledger.operations(found.operation_ids)
        return sorted(made, key=lambda operation: operation.item)


@asynccontextmanager
async def bureau_at(dsn: str) -> AsyncGenerator[Bureau]:
    """A ledger and a provider of its own."""
    async with ledger_at(dsn) as ledger:
        provider = FakeProvider(lambda: made.at)
        types: list[OperationType] = [Worded(n, can, provider) for n, can in KINDS.items()]
        made = Bureau(ledger, Types(types), provider=provider)
        made.policy.policy = SMALL
        await made.begin(still=True)
        yield made


@pytest.fixture
async def bureau(ledger_dsn: str) -> AsyncGenerator[Bureau]:
    """A ledger and a provider of its own."""
    async with bureau_at(ledger_dsn) as made:
        yield made


def call(
    number: int = 1,
    amount_minor: int = 5_000,
    *,
    kind: str = "fake.refund",
    on: str | None = None,
    result: Any = None,
) -> NewCall:
    """A tool call of an agent; above 20 EUR a person decides."""
    item = {"object": on or f"ch_{number}", "amount_minor": amount_minor}
    return NewCall(f"call_{number}", kind, [item], result)


def refund(number: int, amount_minor: int = 5_000) -> dict[str, Any]:
    """The parameters of one refund."""
    return {"object": f"ch_{number}", "amount_minor": amount_minor}

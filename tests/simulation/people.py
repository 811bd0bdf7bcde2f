"""People: they approve, answer questions, act by hand, brake and revoke; now and then wrongly."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from random import Random
from typing import Any
from uuid import UUID

from ledger.errors import OutliveError
from ledger.model import Liveness, Operation
from ledger.proposals import Approval, RepeatsUnanswered
from recovery.verdicts import AnswerGiven, Verdict
from tests.simulation.adapter import KINDS, AdapterFault
from tests.simulation.process import Process
from tests.simulation.provider import Provider
from tests.simulation.stage import Stage


class Hand(StrEnum):
    """What a person did about an operation."""

    SEPARATE = "declared separate"
    SENT_AGAIN = "sent again"
    DENIED = "said it did not happen"
    CLAIMED = "said it happened"
    BY_HAND = "done by hand"
    GAVE_UP = "gave up"


@dataclass(frozen=True, slots=True)
class Span:
    """From when until when something surely held, in the world's seconds."""

    what: str
    from_s: float
    to_s: float


@dataclass(slots=True)
class Deeds:
    """What people did: the judges tell theirs from the machine's."""

    hands: defaultdict[UUID, set[Hand]] = field(default_factory=lambda: defaultdict(set))
    brakes: list[Span] = field(default_factory=list[Span])
    revoked: dict[UUID, float] = field(default_factory=dict[UUID, float])
    """Authorizations, and since when their revocation stood."""


@dataclass(slots=True)
class Desk:
    """One person at a desk, over some process."""

    name: str
    process: Process
    provider: Provider
    stage: Stage
    draw: Random
    careless: float
    """How often the person errs."""
    deeds: Deeds

    async def sit(self) -> None:
        """Look at what waits, and decide some of it."""
        await self._approve()
        await self._answer()
        if self.draw.random() < 0.08:
            await self._revoke()

    async def _approve(self) -> None:
        rows = await self._rows(
            "SELECT id FROM proposals WHERE state = 'awaiting' ORDER BY created_at, id"
        )
        for row in rows:
            if self.draw.random() < 0.3:
                continue
            try:
                await self._decide(row["id"])
            except OutliveError as error:
                self.stage.tell(f"    {self.name} decides in vain: {error.code}")

    async def _decide(self, proposal_id: UUID) -> None:
        found = await self.process.ledger.proposals.get(proposal_id)
        read = (found.id, found.version, found.digest, self.name)
        erring = self.draw.random() < self.careless
        try:
            if self.draw.random() < 0.1:
                await self.process.ledger.proposals.reject(
                    found.id, version=found.version, digest=found.digest, by=self.name, reason="no"
                )
                return
            await self.process.proposer.approve(Approval(*read))
        except RepeatsUnanswered as unanswered:
            if not erring:
                await self.process.ledger.proposals.reject(
                    found.id,
                    version=found.version,
                    digest=found.digest,
                    by=self.name,
                    reason="it exists already",
                )
                return
            separate = tuple(sorted(unanswered.older))
            # Counted before it is done: a decision may stand although its answer was lost.
            for item in await self.process.ledger.proposals.items(found.id):
                if item.item in separate:
                    self.deeds.hands[item.operation_id].add(Hand.SEPARATE)
            await self.process.proposer.approve(Approval(*read, separate=separate))

    async def _answer(self) -> None:
        for question in await self.process.ledger.escalations.open_ones():
            if question.operation_id is None or self.draw.random() < 0.4:
                continue
            operation = await self.process.ledger.operation(question.operation_id)
            given = self._answer_to(operation)
            self.stage.tell(
                f"    {self.name} answers {operation.id.hex[-6:]} "
                f"{','.join(question.reasons)}: {given.verdict} {given.reference or ''}"
            )
            self._note(operation.id, given.verdict)
            try:
                await self.process.verdicts.resolve(question, given)
            except (OutliveError, AdapterFault) as error:
                self.stage.tell(f"    {self.name} answers in vain: {error}")

    def _note(self, operation_id: UUID, verdict: Verdict) -> None:
        hand = {
            Verdict.SEND_AGAIN: Hand.SENT_AGAIN,
            Verdict.DID_NOT_HAPPEN: Hand.DENIED,
            Verdict.HAPPENED: Hand.CLAIMED,
            Verdict.DONE_BY_HAND: Hand.BY_HAND,
            Verdict.GIVE_UP: Hand.GAVE_UP,
        }.get(verdict)
        if hand is not None:
            self.deeds.hands[operation_id].add(hand)

    def _answer_to(self, operation: Operation) -> AnswerGiven:
        if self.draw.random() < self.careless:
            verdict = self.draw.choice(list(Verdict))
        else:
            verdict = self._right(operation)
        reference = None
        if verdict in {Verdict.HAPPENED, Verdict.DONE_BY_HAND}:
            reference = self._reference(operation, verdict)
        return AnswerGiven(
            verdict,
            self.name,
            "-",
            reference=reference,
            until=_later(self.stage, self.draw),
            expected_case_version=operation.case_version if self.draw.random() < 0.5 else None,
        )

    def _right(self, operation: Operation) -> Verdict:
        """What fits what stands at the provider, as far as people can see it there."""
        own = [deed for deed in self.provider.of(operation.id) if deed.live]
        if operation.final:
            return Verdict.HAPPENED if own and operation.failure_code else Verdict.SEEN
        if any(deed.liveness is Liveness.SUCCEEDED for deed in own):
            return Verdict.HAPPENED
        return self.draw.choice(
            [
                Verdict.DID_NOT_HAPPEN,
                Verdict.SEND_AGAIN,
                Verdict.GIVE_UP,
                Verdict.WAIT,
                Verdict.DONE_BY_HAND,
            ]
        )

    def _reference(self, operation: Operation, verdict: Verdict) -> str:
        subject = operation.subject
        if verdict is Verdict.DONE_BY_HAND:
            kind = KINDS[operation.type.removeprefix("sim.")]
            deed = self.provider.by_hand(
                subject.object_id, subject.money, target_state=kind.target_state
            )
            return deed.reference
        own = self.provider.of(operation.id) or self.provider.deeds
        return self.draw.choice(own).reference if own else "re_none"

    async def _revoke(self) -> None:
        rows = await self._rows(
            "SELECT id FROM authorizations WHERE revoked_at IS NULL ORDER BY created_at, id"
        )
        if not rows:
            return
        chosen: UUID = self.draw.choice(rows)["id"]
        await self.process.ledger.revoke(chosen, by=self.name, reason="second thoughts")
        self.deeds.revoked[chosen] = self.stage.now_s

    async def brake(self, for_s: float) -> None:
        """Hold everything back for a while; each person has a brake of their own."""
        scope = "all" if self.name.endswith("0") else "provider:sim"
        switches = self.process.ledger.switches
        await switches.set_brake(scope, by=self.name, reason="stop")
        from_s = self.stage.now_s
        await self.stage.until(from_s + for_s)
        self.deeds.brakes.append(Span(scope, from_s, self.stage.now_s))
        await switches.release_brake(scope)

    async def _rows(self, query: str) -> list[dict[str, Any]]:
        async with self.process.ledger.pool.connection() as connection:
            cursor = await connection.execute(query.encode())
            return await cursor.fetchall()


def _later(stage: Stage, draw: Random) -> Any:
    return stage.now + timedelta(seconds=draw.uniform(60, 7_200))

"""People: they decide, answer questions, brake and revoke; now and then wrongly."""

from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final
from uuid import UUID

from ledger.errors import OutliveError
from ledger.escalations import Escalation
from ledger.proposals import Approval, Proposal, RepeatsUnanswered, Taken
from recovery.verdicts import AnswerGiven, Verdict, VerdictRefused
from tests.simulation.adapter import AdapterFault
from tests.simulation.answers import HANDS, answer_to
from tests.simulation.hands import Deeds, Hand, Span
from tests.simulation.process import Process
from tests.simulation.provider import Provider
from tests.simulation.stage import Stage

OWN_YES: Final = 0.03
"""How often somebody tries to approve in the name of the agent that asked."""
COSIGNS: Final = 0.7
"""How often somebody gives the answer that another one has signed."""
STALE: Final = 0.05
"""How often somebody decides about what they read long ago."""


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
    read: list[Proposal] = field(default_factory=list[Proposal])
    """What this person has read so far."""

    async def sit(self) -> None:
        """Look at what waits, and decide some of it."""
        await self._approve()
        await self._answer()
        if self.draw.random() < 0.1:
            await self._revoke()

    async def _approve(self) -> None:
        rows = await self._rows(
            "SELECT id FROM proposals WHERE state = 'awaiting' ORDER BY created_at, id"
        )
        for row in rows:
            if self.draw.random() < 0.3:
                continue
            await self._try(row["id"])
        if self.read and self.draw.random() < STALE:
            await self._try(self.draw.choice(self.read))

    async def _try(self, which: UUID | Proposal) -> None:
        try:
            if isinstance(which, UUID):
                which = await self.process.ledger.proposals.get(which)
                self.read.append(which)
            await self._decide(which)
        except (OutliveError, AdapterFault) as error:
            code = getattr(error, "code", "fault")
            self._count(f"in vain: {code}")
            self.stage.tell(f"    {self.name} decides in vain: {code}")

    async def _decide(self, found: Proposal) -> None:
        erring = self.draw.random() < self.careless
        does = self.draw.random()
        if does < 0.1:
            await self._reject(found, "no")
            return
        if does < 0.2:
            found = await self._change(found)
        if self.draw.random() < OWN_YES:
            await self._say_yes(found, by=found.requested_by)
        try:
            await self._say_yes(found)
        except RepeatsUnanswered as unanswered:
            if not erring:
                await self._reject(found, "it exists already")
                return
            separate = tuple(sorted(unanswered.older))
            # Counted before it is done: a decision may stand although its answer was lost.
            for item in await self.process.ledger.proposals.items(found.id):
                if item.item in separate:
                    self.deeds.hands[item.operation_id].add(Hand.SEPARATE)
            await self._say_yes(found, separate)

    async def _say_yes(
        self, found: Proposal, separate: tuple[int, ...] = (), *, by: str | None = None
    ) -> None:
        yes = Approval(found.id, found.version, found.digest, by or self.name, separate=separate)
        taken = await self.process.proposer.approve(yes)
        self._count("first of two" if taken is Taken.ONE_OF_TWO else taken.value)

    async def _reject(self, found: Proposal, reason: str) -> None:
        await self.process.ledger.proposals.reject(
            found.id, version=found.version, digest=found.digest, by=self.name, reason=reason
        )
        self._count("rejected")

    async def _change(self, found: Proposal) -> Proposal:
        """One item less, or smaller amounts; the new version is what is decided about then."""
        items = [dict(item) for item in found.input]
        if len(items) > 1 and self.draw.random() < 0.5:
            items.pop(self.draw.randrange(len(items)))
        elif "amount_minor" in items[0]:
            for item in items:
                item["amount_minor"] = max(1, item["amount_minor"] * 2 // 3)
        else:
            return found
        made = await self.process.proposer.change(
            found,
            items,
            version=found.version,
            digest=found.digest,
            by=self.name,
            reason="less will do",
        )
        self._count("changed")
        self.read.append(made)
        return made

    async def _answer(self) -> None:
        for question in await self.process.ledger.escalations.open_ones():
            if question.operation_id is None or self.draw.random() < 0.4:
                continue
            operation = await self.process.ledger.operation(question.operation_id)
            given = answer_to(
                operation, self.name, self.provider, self.stage, self.draw, self.careless
            )
            if self.draw.random() < COSIGNS:
                given = await self._as_signed(question, given)
            self.stage.tell(
                f"    {self.name} answers {operation.id.hex[-6:]} "
                f"{','.join(question.reasons)}: {given.verdict} {given.reference or ''}"
            )
            await self._give(question, given, self.deeds.hands[operation.id])

    async def _as_signed(self, question: Escalation, given: AnswerGiven) -> AnswerGiven:
        """The same answer as somebody else has signed already, if so."""
        for signed in await self.process.ledger.answers.signatures([question.id]):
            if signed.signer != self.name:
                return replace(
                    given,
                    verdict=Verdict(signed.answer["verdict"]),
                    reference=signed.answer.get("reference"),
                )
        return given

    async def _give(self, question: Escalation, given: AnswerGiven, hands: set[Hand]) -> None:
        hand, before = HANDS.get(given.verdict), set(hands)
        if hand is not None:
            hands.add(hand)  # before it is done: it may stand although its answer was lost
        try:
            resolved = await self.process.verdicts.resolve(question, given)
        except VerdictRefused as error:  # nothing was recorded
            hands.intersection_update(before)
            self.stage.tell(f"    {self.name} is refused: {error}")
            self._count(f"refused: {given.verdict}")
        except (OutliveError, AdapterFault) as error:
            self.stage.tell(f"    {self.name} answers in vain: {error}")
        else:
            if resolved.signed:
                hands.intersection_update(before)
            self._count("signed as the first of two" if resolved.signed else given.verdict.value)

    async def _revoke(self) -> None:
        rows = await self._rows(
            "SELECT id FROM authorizations WHERE revoked_at IS NULL ORDER BY created_at, id"
        )
        if not rows:
            return
        chosen: UUID = self.draw.choice(rows)["id"]
        await self.process.ledger.revoke(chosen, by=self.name, reason="second thoughts")
        self.deeds.revoked[chosen] = self.stage.now_s
        self._count("revoked")

    async def brake(self, for_s: float) -> None:
        """Hold something back for a while; nobody else lets it go on meanwhile."""
        scope = (
            "all"
            if self.name.endswith("0")
            else self.draw.choice(["provider:sim", "type:sim.keyed"])
        )
        switches = self.process.ledger.switches
        await switches.set_brake(scope, by=self.name, reason="stop")
        self._count("braked")
        from_s = self.stage.now_s
        await self.stage.until(from_s + for_s)
        self.deeds.brakes.append(Span(scope, from_s, self.stage.now_s))
        await switches.release_brake(scope, by=self.name)

    def _count(self, what: str) -> None:
        self.deeds.acts[what] += 1

    async def _rows(self, query: str) -> list[dict[str, Any]]:
        async with self.process.ledger.pool.connection() as connection:
            cursor = await connection.execute(query.encode())
            return await cursor.fetchall()

"""A person's answer to an escalation: verified with the provider before it counts.

A refused answer changes nothing, stands in the history, and raises the case version.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from dispatcher.conclude import WATCH_S
from dispatcher.dispatch import Dispatched, Dispatcher
from dispatcher.provider import Effect, OperationType, Registry, Trouble
from dispatcher.timing import Timing
from ledger.commands import DecisionWrite, Worker
from ledger.errors import OutliveError, ProviderError, StaleCase
from ledger.escalations import NEEDS_A_PERSON, Escalation
from ledger.model import FINAL, Liveness, Operation, State
from ledger.postgres.escalations import Renewal
from ledger.postgres.ledger import Ledger
from recovery.assess import assess
from recovery.case import LIVE, Case, Seen
from recovery.decide import TABLE_VERSION
from recovery.dossier import window_ends_at
from recovery.limits import Limits
from recovery.observe import Sighting, observe
from recovery.version import CODE_VERSION

SEND_AGAIN_FOR: Final = timedelta(hours=1)
"""How long a person's *send again* authorizes it."""


class Verdict(StrEnum):
    """What a person can answer."""

    HAPPENED = "happened"
    DONE_BY_HAND = "done-by-hand"
    DID_NOT_HAPPEN = "did-not-happen"
    SEND_AGAIN = "send-again"
    GIVE_UP = "give-up"
    WAIT = "wait"
    SEEN = "seen"


class VerdictRefused(OutliveError):
    """The answer contradicts what is known. Nothing was recorded but the refusal."""

    code = "verdict_refused"


@dataclass(frozen=True, slots=True)
class AnswerGiven:
    """A person's answer, as typed."""

    verdict: Verdict
    by: str
    note: str
    reference: str | None = None
    until: datetime | None = None
    expected_case_version: int | None = None
    """The case version that the person had before them."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """What an answer led to."""

    operation: Operation
    sent: Dispatched | None = None


@dataclass(frozen=True, slots=True)
class _Question:
    escalation: Escalation
    operation: Operation
    kind: OperationType
    answer: AnswerGiven
    changes: dict[str, Any] = field(default_factory=dict[str, Any])


class Verdicts:
    """Takes answers."""

    def __init__(
        self,
        ledger: Ledger,
        registry: Registry,
        dispatcher: Dispatcher,
        worker: Worker,
        timing: Timing,
        limits: Limits,
    ) -> None:
        self._ledger = ledger
        self._registry = registry
        self._dispatcher = dispatcher
        self._worker = worker
        self._timing = timing
        self._limits = limits

    async def resolve(self, escalation: Escalation, answer: AnswerGiven) -> Resolved:
        """Verify an answer and record it.

        Raises:
            VerdictRefused: It contradicts the provider or the record; says how.
            StaleCase: Something was learned since the person read it; nothing was recorded.
            ProviderError: The provider could not be asked; nothing was recorded.
        """
        if escalation.operation_id is None:
            raise VerdictRefused(
                "this question is about no single operation; it can only be closed as seen"
            )
        operation = await self._ledger.operation(escalation.operation_id)
        expected = answer.expected_case_version
        if expected is not None and expected != operation.case_version:
            raise StaleCase(operation.id, expected)
        asked = _Question(escalation, operation, self._registry.get(operation.type), answer)
        try:
            return await self._take(asked)
        except VerdictRefused as refused:
            await self._ledger.wake(
                operation.id,
                actor=answer.by,
                kind="verdict_refused",
                told={"verdict": answer.verdict.value, "why": str(refused)},
            )
            raise

    async def _take(  # noqa: PLR0911  one return an answer
        self, asked: _Question
    ) -> Resolved:
        match asked.answer.verdict:
            case Verdict.HAPPENED:
                return await self._happened(asked)
            case Verdict.DONE_BY_HAND:
                return await self._done_by_hand(asked)
            case Verdict.DID_NOT_HAPPEN:
                return await self._did_not_happen(asked)
            case Verdict.SEND_AGAIN:
                return await self._send_again(asked)
            case Verdict.GIVE_UP:
                return await self._close(asked, never_send=True, check_s=WATCH_S[0])
            case Verdict.WAIT:
                return await self._wait(asked)
            case Verdict.SEEN:
                return await self._seen(asked)

    async def _happened(self, asked: _Question) -> Resolved:
        effect = await self._fetched(asked)
        if effect.marker is not None and effect.marker.operation_id != asked.operation.id:
            raise VerdictRefused(
                f"{effect.reference} carries the id of operation {effect.marker.operation_id}, "
                f"not of {asked.operation.id}"
            )
        stands = effect.liveness is Liveness.SUCCEEDED
        correct = asked.operation.state is State.FAILED
        if correct and not stands:
            raise VerdictRefused(
                f"{effect.reference} is {effect.provider_status}; the record can be corrected to "
                "confirmed only once it has succeeded"
            )
        return await self._close(
            asked,
            state=State.CONFIRMED if stands else asked.operation.state,
            in_doubt=False,
            failure_code=None,
            reference=effect.reference,
            provider_status=effect.provider_status,
            correct=correct,
            check_s=WATCH_S[0] if stands else asked.kind.waits.pending.first_s,
        )

    async def _done_by_hand(self, asked: _Question) -> Resolved:
        effect = await self._fetched(asked)
        return await self._close(
            asked,
            never_send=True,
            result={"done_by_hand": effect.reference},
            check_s=WATCH_S[0],
        )

    async def _did_not_happen(self, asked: _Question) -> Resolved:
        sighting, case = await self._look(asked)
        if case.seen in LIVE | {Seen.DUPLICATE, Seen.MISMATCH}:
            raise VerdictRefused(
                f"{asked.operation.provider} shows a living effect of this operation "
                f"({case.seen.value.replace('_', ' ')})"
            )
        if case.settling:
            raise VerdictRefused(
                "an attempt may still take effect unseen; wait until it has settled "
                f"({asked.operation.settled_at})"
            )
        _refuse_trouble(asked, sighting)
        return await self._close(
            asked,
            state=State.FAILED,
            in_doubt=False,
            failure_code="NO_EFFECT_BY_VERDICT",
            correct=asked.operation.state is State.CONFIRMED,
            check_s=WATCH_S[0],
        )

    async def _send_again(self, asked: _Question) -> Resolved:
        operation = asked.operation
        if operation.state in FINAL or operation.never_send:
            raise VerdictRefused("the record is closed or given up; make a new proposal instead")
        sighting, case = await self._look(asked)
        _refuse_trouble(asked, sighting)
        reasons = [
            why
            for why, holds in {
                "an effect of this operation lives at the provider": case.seen is not Seen.ABSENT
                and case.seen is not Seen.BLIND,
                "an attempt may still take effect unseen": case.settling,
                f"a precondition is gone ({case.precondition})": case.precondition is not None,
                "the target can't take the amount any more": case.remainder_too_small,
                "the stored request is not what this code would send": case.drift,
                "sending is held back": case.held is not None and case.held.value != "NOT_BEFORE",
            }.items()
            if holds
        ]
        if reasons:
            raise VerdictRefused("not sent again: " + "; ".join(reasons))
        answer = asked.answer
        await self._close(
            asked,
            renewal=Renewal(answer.by, sighting.at + SEND_AGAIN_FOR),
            acknowledged=(),
            check_s=self._timing.lease_s,
        )
        fresh = await self._ledger.operation(operation.id)
        held = await self._ledger.claim_one(
            operation.id,
            self._worker,
            case_version=fresh.case_version,
            lease_s=self._timing.lease_s,
        )
        sent = await self._dispatcher.dispatch(held)
        return Resolved(await self._ledger.operation(operation.id), sent)

    async def _wait(self, asked: _Question) -> Resolved:
        now = await self._ledger.now()
        until = asked.answer.until
        ends = window_ends_at(asked.operation, asked.kind.capabilities.key)
        if until is None or until <= now:
            raise VerdictRefused("name a time in the future to wait until")
        if ends is not None and until > ends > now:
            raise VerdictRefused(
                f"the key's window ends at {ends.isoformat()}; wait at most so long"
            )
        return await self._close(asked, acknowledged=(), check_s=(until - now).total_seconds())

    async def _seen(self, asked: _Question) -> Resolved:
        doubts = [r for r in asked.escalation.reasons if r not in NEEDS_A_PERSON]
        if doubts:
            raise VerdictRefused(
                f"{', '.join(doubts)} asks whether it happened; that needs an answer, not a nod"
            )
        return await self._close(asked, check_s=WATCH_S[0])

    async def _fetched(self, asked: _Question) -> Effect:
        """The effect that the person named, as the provider has it, if it can be this one."""
        reference, operation = asked.answer.reference, asked.operation
        if not reference:
            raise VerdictRefused("name the effect (`--reference re_…`)")
        found = await asked.kind.fetch(operation, reference)
        if isinstance(found, Trouble):
            raise ProviderError(
                f"{operation.provider} could not be asked about {reference} ({found.value}); "
                "nothing was recorded, try again",
                code="provider_unreachable",
            )
        if found is None:
            raise VerdictRefused(f"{operation.provider} has no {reference}")
        if not found.subject_matches or found.money != operation.subject.money:
            raise VerdictRefused(
                f"{reference} is not this operation's effect: it is {_told(found)}, "
                f"this operation is {operation.subject.money} on {operation.subject.object_id}"
            )
        if found.liveness is Liveness.DEAD:
            raise VerdictRefused(f"{reference} is {found.provider_status}: it had no effect")
        other = await self._ledger.pool.row(
            "used_reference", id=operation.id, reference=reference, provider=operation.provider
        )
        if other is not None:
            raise VerdictRefused(f"{reference} is the effect of operation {other['id']} already")
        return found

    async def _look(self, asked: _Question) -> tuple[Sighting, Case]:
        sighting = await observe(
            asked.operation, asked.kind, self._ledger, self._timing, self._limits
        )
        return sighting, assess(asked.operation, sighting.look, sighting.world, sighting.at)

    async def _close(
        self, asked: _Question, *, renewal: Renewal | None = None, **changes: Any
    ) -> Resolved:
        operation, answer = asked.operation, asked.answer
        write = DecisionWrite(
            operation=operation,
            state=operation.state,
            in_doubt=operation.in_doubt,
            line=0,
            code=f"VERDICT_{answer.verdict.name}",
            action="verdict",
            considered={"reasons": list(asked.escalation.reasons)},
            code_version=CODE_VERSION,
            table_version=TABLE_VERSION,
            check_s=None,
            human=True,
            escalated=False,
            acknowledged=asked.escalation.reasons,
            failure_code=operation.failure_code,
            told={"note": answer.note, "named": answer.reference},
        )
        await self._ledger.escalations.answer(
            asked.escalation.id,
            replace(write, **changes),
            by=answer.by,
            verdict=answer.verdict.value,
            note=answer.note,
            renewal=renewal,
        )
        return Resolved(await self._ledger.operation(operation.id))


def _refuse_trouble(asked: _Question, sighting: Sighting) -> None:
    trouble = sighting.look.trouble
    if trouble is not None:
        raise ProviderError(
            f"{asked.operation.provider} could not be asked ({trouble.value}); nothing was "
            "recorded, try again",
            code="provider_unreachable",
        )


def _told(effect: Effect) -> str:
    where = "the same target" if effect.subject_matches else "another target or mode"
    return f"{effect.money} on {where}"

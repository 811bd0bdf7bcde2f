"""A person's answer to an escalation: verified with the provider before it counts.

A refused answer changes nothing, stands in the history, and raises the case version.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from dispatcher.conclude import WATCH_S
from dispatcher.dispatch import Dispatched, Dispatcher
from dispatcher.provider import Effect, OperationType, Registry
from dispatcher.timing import Timing
from ledger.commands import DecisionWrite, Worker
from ledger.errors import StaleCase, StaleFence
from ledger.escalations import Escalation
from ledger.model import Liveness, Operation, State
from ledger.postgres.escalations import Renewal
from ledger.postgres.ledger import Ledger
from recovery import verify
from recovery.assess import assess
from recovery.case import Case
from recovery.decide import TABLE_VERSION
from recovery.limits import Limits
from recovery.observe import Sighting, observe
from recovery.verify import AnswerGiven, Verdict, VerdictRefused
from recovery.version import CODE_VERSION

__all__ = ["AnswerGiven", "Resolved", "Verdict", "VerdictRefused", "Verdicts"]

SEND_AGAIN_FOR: Final = timedelta(hours=1)
"""How long a person's *send again* authorizes it."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """What an answer led to."""

    operation: Operation
    sent: Dispatched | None = None


@dataclass(frozen=True, slots=True)
class _Question:
    escalation: Escalation
    operation: Operation
    answer: AnswerGiven


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
        asked = _Question(escalation, operation, answer)
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

    async def _take(self, asked: _Question) -> Resolved:  # noqa: PLR0911  one return an answer
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
                verify.must_be_open(asked.operation)
                return await self._close(asked, never_send=True, check_s=WATCH_S[0])
            case Verdict.WAIT:
                return await self._wait(asked)
            case Verdict.SEEN:
                verify.must_be_closed(asked.operation)
                return await self._close(asked, check_s=WATCH_S[0])

    async def _happened(self, asked: _Question) -> Resolved:
        effect = await self._named(asked)
        operation = asked.operation
        verify.may_have_happened(operation, effect)
        stands = effect.liveness is Liveness.SUCCEEDED
        return await self._close(
            asked,
            state=State.CONFIRMED if stands else operation.state,
            in_doubt=False,
            failure_code=None,
            reference=effect.reference,
            provider_status=effect.provider_status,
            correct=operation.state is State.FAILED,
            acknowledged=asked.escalation.reasons if stands else (),
            check_s=WATCH_S[0] if stands else self._kind(asked).waits.pending.first_s,
        )

    async def _done_by_hand(self, asked: _Question) -> Resolved:
        effect = await self._named(asked)
        verify.may_be_by_hand(asked.operation, effect)
        linked = {"done_by_hand": effect.reference}
        return await self._close(asked, never_send=True, result=linked, check_s=WATCH_S[0])

    async def _did_not_happen(self, asked: _Question) -> Resolved:
        sighting, case = await self._look(asked)
        verify.can_not_have_happened(asked.operation, sighting, case)
        return await self._close(
            asked,
            state=State.FAILED,
            in_doubt=False,
            failure_code="NO_EFFECT_BY_VERDICT",
            correct=asked.operation.state is State.CONFIRMED,
            check_s=WATCH_S[0],
        )

    async def _send_again(self, asked: _Question) -> Resolved:
        operation, answer = asked.operation, asked.answer
        sighting, case = await self._look(asked)
        verify.may_be_sent_again(operation, sighting, case)
        closed = await self._close(
            asked,
            renewal=Renewal(answer.by, sighting.at + SEND_AGAIN_FOR),
            acknowledged=(),
            check_s=self._timing.lease_s,
        )
        held = await self._ledger.claim_one(
            operation.id,
            self._worker,
            case_version=closed.operation.case_version,
            lease_s=self._timing.lease_s,
        )
        sent = await self._dispatcher.dispatch(held)
        return Resolved(await self._ledger.operation(operation.id), sent)

    async def _wait(self, asked: _Question) -> Resolved:
        now = await self._ledger.now()
        wait_s = verify.seconds_to_wait(asked.operation, self._kind(asked), asked.answer.until, now)
        return await self._close(asked, acknowledged=(), check_s=wait_s)

    def _kind(self, asked: _Question) -> OperationType:
        return self._registry.get(asked.operation.type)

    async def _named(self, asked: _Question) -> Effect:
        return await verify.named_effect(
            asked.operation, self._kind(asked), self._ledger, asked.answer.reference
        )

    async def _look(self, asked: _Question) -> tuple[Sighting, Case]:
        operation, kind = asked.operation, self._kind(asked)
        sighting = await observe(operation, kind, self._ledger, self._timing, self._limits)
        return sighting, assess(operation, sighting.look, sighting.world, sighting.at)

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
        await self._record(asked, replace(write, **changes), renewal)
        return Resolved(await self._ledger.operation(operation.id))

    async def _record(
        self, asked: _Question, write: DecisionWrite, renewal: Renewal | None
    ) -> None:
        """Write the verdict; a worker that only looked at the operation meanwhile is no matter."""
        operation, answer = asked.operation, asked.answer
        while True:
            try:
                await self._ledger.escalations.answer(
                    asked.escalation.id,
                    write,
                    by=answer.by,
                    verdict=answer.verdict.value,
                    note=answer.note,
                    renewal=renewal,
                )
            except StaleFence:
                fresh = await self._ledger.operation(operation.id)
                known = (operation.case_version, operation.state)
                if (fresh.case_version, fresh.state) != known:
                    raise StaleCase(operation.id, operation.case_version) from None
                write = replace(write, operation=fresh)
            else:
                return

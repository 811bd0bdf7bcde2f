"""A person's answer to an escalation: verified with the provider before it counts.

A refused answer changes nothing, stands in the history, and raises the case version. Above the
policy's threshold the first of two people only signs: the database closes nothing, and nothing is
sent, before another one gives the same answer on the same case.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import timedelta
from typing import Final

from dispatcher.conclude import WATCH_S
from dispatcher.dispatch import Dispatched, Dispatcher
from dispatcher.provider import Effect, OperationType, Registry
from dispatcher.timing import Timing
from ledger.commands import Worker
from ledger.errors import OutliveError, StaleCase
from ledger.escalations import Escalation
from ledger.model import Liveness, Operation, State
from ledger.postgres.answers import Given, Renewal
from ledger.postgres.ledger import Ledger
from recovery import verify
from recovery.assess import assess
from recovery.case import Case
from recovery.limits import Limits
from recovery.observe import Sighting, observe
from recovery.recording import Above, Question, Recorder, Resolved, one_person
from recovery.verify import AdapterFailed, AnswerGiven, Verdict, VerdictRefused

__all__ = ["AnswerGiven", "Resolved", "SendBroke", "Verdict", "VerdictRefused", "Verdicts"]

SEND_AGAIN_FOR: Final = timedelta(hours=1)
"""How long a person's *send again* authorizes it."""

_log = logging.getLogger(__name__)


class SendBroke(OutliveError):
    """The answer counts, sending began, and our own code broke: recovery finds out what came of it.

    Nothing is sent a second time meanwhile.
    """

    code = "send_broke"


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
        *,
        above: Above = one_person,
        wall_s: Callable[[], float] = time.time,
    ) -> None:
        self._ledger = ledger
        self._registry = registry
        self._dispatcher = dispatcher
        self._worker = worker
        self._timing = timing
        self._limits = limits
        self._wall_s = wall_s
        self._above = above
        self._recorder = Recorder(ledger, above)

    async def resolve(self, escalation: Escalation, answer: AnswerGiven) -> Resolved:
        """Verify an answer and record it.

        Raises:
            VerdictRefused: It contradicts the provider or the record; says how.
            StaleCase: Something was learned since the person read it; nothing was recorded.
            ProviderError: The provider could not be asked; nothing was recorded.
            SignedAlready: The same person signs twice; nothing was recorded.
            AdapterFailed: Our own code broke on the way; nothing was recorded.
            SendBroke: The answer counts, and our own code broke while sending.
        """
        if escalation.operation_id is None:
            raise VerdictRefused(
                "this question is about no single operation; it can only be closed as seen"
            )
        operation = await self._ledger.operation(escalation.operation_id)
        expected = answer.expected_case_version
        if expected is not None and expected != operation.case_version:
            raise StaleCase(operation.id, expected)
        asked = Question(escalation, operation, answer)
        try:
            return await self._take(asked)
        except VerdictRefused as refused:
            refused.case_version = await self._ledger.wake(
                operation.id,
                actor=answer.by,
                kind="verdict_refused",
                told={
                    "verdict": answer.verdict.value,
                    "named": answer.reference,
                    "why": str(refused),
                    "differs": None if refused.differs is None else asdict(refused.differs),
                },
            )
            raise
        except OutliveError:
            raise
        except Exception as error:  # whatever an adapter does wrong is no answer for a person
            _log.exception("an answer about %s could not be checked", operation.id)
            raise AdapterFailed(
                f"Outlive's own code failed while {operation.provider} was asked "
                f"({type(error).__name__}). Nothing was recorded and nothing was sent; "
                "the log has the details."
            ) from error

    async def close(self, escalation: Escalation, *, by: str, note: str) -> bool:
        """Close a question that is about no single operation as seen; `False`: signed only.

        Raises:
            VerdictRefused: It is about an operation.
            EscalationClosed: It was answered meanwhile.
            SignedAlready: The same person signs twice.
        """
        if escalation.operation_id is not None:
            raise VerdictRefused("this question is about an operation: it needs an answer")
        return await self._ledger.answers.close(
            Given(escalation.id, by, Verdict.SEEN.value, note, above_minor=self._above())
        )

    async def _take(self, asked: Question) -> Resolved:  # noqa: PLR0911  one return an answer
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
                return await self._recorder.close(asked, never_send=True, check_s=WATCH_S[0])
            case Verdict.WAIT:
                return await self._wait(asked)
            case Verdict.SEEN:
                verify.must_be_closed(asked.operation)
                return await self._recorder.close(asked, check_s=WATCH_S[0])

    async def _happened(self, asked: Question) -> Resolved:
        effect = await self._named(asked)
        operation = asked.operation
        verify.may_have_happened(operation, effect)
        stands = effect.liveness is Liveness.SUCCEEDED
        return await self._recorder.close(
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

    async def _done_by_hand(self, asked: Question) -> Resolved:
        effect = await self._named(asked)
        verify.may_be_by_hand(asked.operation, effect)
        linked = {"done_by_hand": effect.reference}
        return await self._recorder.close(asked, never_send=True, result=linked, check_s=WATCH_S[0])

    async def _did_not_happen(self, asked: Question) -> Resolved:
        sighting, case = await self._look(asked)
        verify.can_not_have_happened(asked.operation, sighting, case)
        return await self._recorder.close(
            asked,
            state=State.FAILED,
            in_doubt=False,
            failure_code="NO_EFFECT_BY_VERDICT",
            correct=asked.operation.state is State.CONFIRMED,
            check_s=WATCH_S[0],
        )

    async def _send_again(self, asked: Question) -> Resolved:
        operation, answer = asked.operation, asked.answer
        sighting, case = await self._look(asked)
        verify.may_be_sent_again(operation, sighting, case)
        closed = await self._recorder.close(
            asked,
            renewal=Renewal(answer.by, sighting.at + SEND_AGAIN_FOR),
            acknowledged=(),
            check_s=self._timing.lease_s,
        )
        if closed.signed:
            return closed
        held = await self._ledger.claim_one(
            operation.id,
            self._worker,
            case_version=closed.operation.case_version,
            lease_s=self._timing.lease_s,
        )
        sent = await self._send(held)
        return Resolved(await self._ledger.operation(operation.id), sent)

    async def _send(self, held: Operation) -> Dispatched:
        try:
            return await self._dispatcher.dispatch(held)
        except OutliveError:
            raise
        except Exception as error:  # the attempt stands without an outcome, as after a crash
            _log.exception("sending %s again broke", held.id)
            raise SendBroke(
                "Your answer counts, and sending began; then Outlive's own code failed "
                f"({type(error).__name__}). Whether it left is not known: recovery asks the "
                "provider, and nothing is sent a second time meanwhile."
            ) from error

    async def _wait(self, asked: Question) -> Resolved:
        now = await self._ledger.now()
        wait_s = verify.seconds_to_wait(asked.operation, self._kind(asked), asked.answer.until, now)
        return await self._recorder.close(asked, acknowledged=(), check_s=wait_s)

    def _kind(self, asked: Question) -> OperationType:
        return self._registry.get(asked.operation.type)

    async def _named(self, asked: Question) -> Effect:
        return await verify.named_effect(
            asked.operation, self._kind(asked), self._ledger, asked.answer.reference
        )

    async def _look(self, asked: Question) -> tuple[Sighting, Case]:
        operation, kind = asked.operation, self._kind(asked)
        sighting = await observe(
            *(operation, kind, self._ledger, self._timing, self._limits), wall_s=self._wall_s
        )
        return sighting, assess(operation, sighting.look, sighting.world, sighting.at)

"""Carry a decision out, under the claim's fence and case version. The statements judge again."""

import logging
from dataclasses import dataclass, replace
from typing import Any, Final

from dispatcher.conclude import WATCH_S
from dispatcher.dispatch import Dispatcher
from dispatcher.provider import Effect
from ledger.commands import DecisionWrite, Worker
from ledger.errors import GateStop, Stop
from ledger.model import Answer, Json, Liveness, Operation, Outcome, State
from ledger.postgres.escalations import Question
from ledger.postgres.ledger import Ledger
from recovery.case import Action, Case, Decision, Scope, Seen
from recovery.decide import TABLE_VERSION
from recovery.dossier import dossier, window_ends_at
from recovery.limits import Limits
from recovery.observe import Sighting
from recovery.sight import own_effects
from recovery.version import CODE_VERSION

MANY_UNSEEN: Final = 5
"""How many operations whose targets are out of sight make one question for the account."""

HOLD_S: Final = 300.0
"""How often an operation is looked at while its question is open."""

_FOUND: Final = frozenset(
    {Seen.OURS_SUCCEEDED, Seen.OURS_PENDING, Seen.OURS_ACTION, Seen.OURS_DEAD}
)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Judged:
    """An operation with everything that its decision rests on."""

    operation: Operation
    case: Case
    sighting: Sighting
    decision: Decision
    check_s: float

    @property
    def found(self) -> Effect | None:
        """Ours at the provider: what stands, before what does not."""
        own = own_effects(self.operation, self.sighting.look, self.sighting.world)
        live = [effect for effect in own if effect.liveness is not Liveness.DEAD]
        return next(iter(live or own), None)


class Actor:
    """Writes what was decided, sends what may be sent."""

    def __init__(
        self, ledger: Ledger, dispatcher: Dispatcher, worker: Worker, limits: Limits
    ) -> None:
        self._ledger = ledger
        self._dispatcher = dispatcher
        self._worker = worker
        self._limits = limits

    async def act(self, judged: Judged) -> None:
        """Carry it out.

        Raises:
            StaleFence, StaleCase: The decision was made on an older picture; nothing was written.
        """
        decision = judged.decision
        match decision.action:
            case Action.ABORT:
                pass
            case Action.NOTHING:
                await self._watch(judged, clear=True)
            case Action.WATCH:
                # Where nothing can ever be looked at, looking again would never get clearer.
                hopeless = decision.code == "GIVEN_UP" or judged.case.seen is Seen.BLIND
                await self._watch(judged, clear=hopeless)
            case Action.WAIT | Action.HOLD:
                await self._write(_record(judged))
            case Action.FINISH_CONFIRMED:
                await self._finish(judged, State.CONFIRMED)
            case Action.FINISH_FAILED:
                await self._finish(judged, State.FAILED)
            case Action.SEND | Action.RESEND:
                await self._send(judged)
            case Action.ESCALATE:
                await self._escalate(judged)

    async def _write(self, write: DecisionWrite) -> None:
        await self._ledger.apply_decision(write, actor=self._worker.name)

    async def _watch(self, judged: Judged, *, clear: bool) -> None:
        """Look again later, and at last no more; what was unclear does not use up a turn."""
        turn = judged.operation.watches + 1 if clear else 0
        check_s = WATCH_S[turn] if turn < len(WATCH_S) else None
        await self._write(_record(judged, check_s=check_s, watched=clear))

    async def _finish(self, judged: Judged, state: State) -> None:
        """Close the record on what the provider shows, with the reference it shows."""
        operation = judged.operation
        if state is State.CONFIRMED and operation.state is State.CREATED:
            await self._import(judged)
        write = _record(
            judged,
            state=state,
            in_doubt=False,
            check_s=WATCH_S[0] if operation.attempts or state is State.CONFIRMED else None,
            failure_code=judged.decision.code if state is State.FAILED else None,
        )
        also = judged.decision.also
        if also is not None and also not in operation.acknowledged:
            # Asked in the commit that closes the record: a crash can't lose the question.
            closed = replace(write, escalated=True, release=not operation.escalated)
            if await self._ask(closed, judged, [also]):
                raised = replace(operation, case_version=operation.case_version + 1)
                write = replace(write, operation=raised)
        elif not operation.escalated:
            await self._write(write)
        if operation.escalated:
            await self._ledger.escalations.settle(write, actor=self._worker.name)

    async def _import(self, judged: Judged) -> None:
        """The record knows no sending, yet ours is there: a lost history, entered as accepted."""
        effect = judged.found
        await self._ledger.import_attempt(
            judged.operation,
            self._worker,
            credential=judged.sighting.world.credential,
            answer=Answer(
                Outcome.ACCEPTED,
                reference=None if effect is None else effect.reference,
                provider_status=None if effect is None else effect.provider_status,
                code="imported",
                detail="found at the provider; the record knew no sending",
            ),
        )

    async def _send(self, judged: Judged) -> None:
        await self._write(_record(judged, release=False))
        try:
            sent = await self._dispatcher.dispatch(
                judged.operation, judged_with=judged.sighting.world.credential
            )
        except GateStop as stop:
            _log.info("%s", stop)
            pause_s = 30.0 if stop.reason is Stop.TARGET_BUSY else 1.0
            await self._ledger.release([judged.operation], check_s=pause_s)
            return
        answered = sent.answer.outcome in {Outcome.ACCEPTED, Outcome.REFUSED}
        if judged.sighting.outage and answered:
            operation = judged.operation
            await self._ledger.switches.end_outage(operation.provider, operation.subject.account)

    async def _escalate(self, judged: Judged) -> None:
        operation, decision = judged.operation, judged.decision
        if decision.scope is Scope.ACCOUNT or await self._unseen_everywhere(judged):
            await self._ledger.escalations.open_account(
                operation.provider,
                operation.subject.account,
                reason=decision.code,
                member=operation.id,
                dossier=_told(judged, decision.code),
            )
            await self._write(_record(judged))
            return
        named = [code for code in (decision.code, decision.also) if code is not None]
        reasons = [code for code in named if code not in operation.acknowledged]
        if not reasons:
            await self._watch(judged, clear=True)
            return
        write = _record(judged, check_s=max(judged.check_s, HOLD_S), escalated=True)
        await self._ask(write, judged, reasons)

    async def _unseen_everywhere(self, judged: Judged) -> bool:
        """Many targets at once out of sight: that is about the account, not about each of them."""
        operation = judged.operation
        if judged.decision.code != "TARGET_NOT_VISIBLE":
            return False
        row = await self._ledger.pool.row(
            "count_unseen",
            provider=operation.provider,
            account=operation.subject.account,
            most=MANY_UNSEEN,
        )
        return row is not None and row["found"] >= MANY_UNSEEN

    async def _ask(self, write: DecisionWrite, judged: Judged, reasons: list[str]) -> bool:
        """Write a decision and put its question to a person, in one commit.

        Whether it joined an open question, and so raised the case version by one.
        """
        operation = judged.operation
        question = Question(
            reasons,
            _told(judged, reasons[0]),
            window_ends_at(operation, judged.sighting.world.capabilities.key),
        )
        opened = await self._ledger.escalations.open(write, question, actor=self._worker.name)
        if opened.is_new:
            _log.warning("%s needs a person: %s", operation.id, ", ".join(reasons))
        return opened.joined


def _told(judged: Judged, code: str) -> dict[str, Json]:
    sighting = judged.sighting
    return dossier(judged.operation, sighting.look, sighting.world, judged.case, code, sighting.at)


def _record(judged: Judged, **changes: Any) -> DecisionWrite:
    """The decision as it will be written: by default nothing moves but the next check."""
    operation, decision = judged.operation, judged.decision
    effect = judged.found
    known = judged.case.seen in _FOUND
    write = DecisionWrite(
        operation=operation,
        state=operation.state,
        # A late "not sent" can't clear the doubt itself: its sender has lost the operation.
        in_doubt=operation.in_doubt and not known and not judged.case.unsent,
        line=decision.row,
        code=decision.code,
        action=decision.action.value,
        considered=judged.case.as_json(),
        code_version=CODE_VERSION,
        table_version=TABLE_VERSION,
        check_s=judged.check_s,
        reference=effect.reference if effect is not None and known else None,
        provider_status=effect.provider_status if effect is not None and known else None,
        failure_code=operation.failure_code,
    )
    return replace(write, **changes)

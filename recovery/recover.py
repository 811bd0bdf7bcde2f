"""One operation, start to end: observe, assess, decide, pace, act. No model is asked anything."""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Final

from opentelemetry.trace import Span

from dispatcher.conclude import WATCH_S
from dispatcher.dispatch import Dispatcher
from dispatcher.provider import Registry, Trouble
from dispatcher.spans import decided, recovering
from dispatcher.timing import Timing
from dispatcher.tracing import OFF, Tracing
from ledger.commands import DecisionWrite, Worker
from ledger.errors import StaleCase, StaleFence
from ledger.model import Operation
from ledger.postgres.escalations import Question
from ledger.postgres.ledger import Ledger
from recovery.act import HOLD_S, Actor, Judged
from recovery.assess import assess
from recovery.case import Action, Decision, Held
from recovery.decide import TABLE_VERSION, decide
from recovery.limits import Limits
from recovery.observe import Sighting, observe
from recovery.pace import hold_s, pace
from recovery.version import CODE_VERSION
from recovery.words import explain

_BREAKER_S: Final = 60.0
_log = logging.getLogger(__name__)


class Recovery:
    """Judges held operations by the fixed protocol, and acts."""

    def __init__(
        self,
        ledger: Ledger,
        registry: Registry,
        dispatcher: Dispatcher,
        worker: Worker,
        timing: Timing,
        limits: Limits,
        *,
        wall_s: Callable[[], float] = time.time,
        tracing: Tracing = OFF,
    ) -> None:
        self._ledger = ledger
        self._registry = registry
        self._timing = timing
        self._limits = limits
        self._wall_s = wall_s
        self._tracing = tracing
        self._worker = worker
        self._actor = Actor(ledger, dispatcher, worker, limits)

    async def handle(self, operation: Operation) -> Decision | None:
        """Bring a held operation one step on; `None` where it was lost on the way."""
        with recovering(self._tracing, operation) as span:
            return await self._handle(operation, span)

    async def _handle(self, operation: Operation, span: Span) -> Decision | None:
        kind = self._registry.get(operation.type)
        try:
            sighting = await observe(
                operation, kind, self._ledger, self._timing, self._limits, wall_s=self._wall_s
            )
            await self._note(operation, sighting)
            judged = self._judge(operation, sighting)
            held = await self._reserve(judged)
            if held is not None:
                world = replace(sighting.world, holds=sighting.world.holds | {held})
                judged = self._judge(operation, replace(sighting, world=world))
            decision = judged.decision
            decided(
                self._tracing, span, operation, code=decision.code, action=decision.action.value
            )
            await self._actor.act(judged)
        except StaleFence as error:
            _log.info("%s; it is judged anew", error)
            return None
        except StaleCase as error:
            _log.info("%s; it is judged anew", error)
            await self._ledger.release([operation], check_s=0)
            return None
        return judged.decision

    async def ask_about_fault(self, operation: Operation, error: Exception) -> None:
        """Our own code failed on this operation: a person looks at it, nothing is sent."""
        told = {"why": explain("CANNOT_JUDGE"), "error": type(error).__name__}
        # As it stands now: a sending may have been recorded before the fault.
        fresh = await self._ledger.operation(operation.id)
        write = DecisionWrite(
            operation=operation,
            state=fresh.state,
            in_doubt=fresh.in_doubt,
            line=0,
            code="CANNOT_JUDGE",
            action=Action.ESCALATE.value,
            considered=told,
            code_version=CODE_VERSION,
            table_version=TABLE_VERSION,
            check_s=HOLD_S,
            failure_code=fresh.failure_code,
        )
        with suppress(StaleFence, StaleCase):
            if "CANNOT_JUDGE" in fresh.acknowledged:
                later = replace(write, check_s=WATCH_S[0])
                await self._ledger.apply_decision(later, actor=self._worker.name)
                return
            await self._ledger.escalations.open(
                replace(write, escalated=True),
                Question(["CANNOT_JUDGE"], told, None),
                actor=self._worker.name,
            )

    def _judge(self, operation: Operation, sighting: Sighting) -> Judged:
        case = assess(operation, sighting.look, sighting.world, sighting.at)
        decision = decide(case)
        if decision.action is not Action.WAIT:
            return Judged(operation, case, sighting, decision, hold_s(operation, decision))
        paced = pace(decision, operation, sighting.look, sighting.world, sighting.at)
        if paced.notify:
            _log.warning("%s has been waiting: %s", operation.id, decision.code)
        return Judged(operation, case, sighting, paced.decision, paced.check_in_s)

    async def _note(self, operation: Operation, sighting: Sighting) -> None:
        """Tell all replicas what a look-up says about the provider itself."""
        provider, account = operation.provider, operation.subject.account
        switches = self._ledger.switches
        match sighting.look.trouble:
            case Trouble.UNAUTHORIZED:
                await switches.open_breaker(
                    provider,
                    account,
                    sighting.world.credential,
                    reason="the provider refuses the credential",
                    for_s=_BREAKER_S,
                )
            case Trouble.UNREACHABLE if not sighting.outage:
                await switches.note_outage(provider, account)
            case None if sighting.breaker or sighting.asked_about_account:
                await switches.close_breaker(provider, account, sighting.world.credential)
                await self._ledger.escalations.close_account(provider, account)
            case _:
                pass

    async def _reserve(self, judged: Judged) -> Held | None:
        """Ask the shared caps and the canary for a send; why not, if not."""
        action, operation = judged.decision.action, judged.operation
        if action not in {Action.SEND, Action.RESEND}:
            return None
        account = operation.subject.account
        switches = self._ledger.switches
        if judged.sighting.outage and not await switches.take_canary(
            operation.provider, account, operation.id, for_s=self._limits.canary_s
        ):
            return Held.CANARY
        if action is Action.RESEND and not await switches.take_resend(
            operation.provider,
            operation.subject.money,
            cap_count=self._limits.resends_per_hour,
            cap_minor=self._limits.resent_minor_per_hour,
        ):
            await switches.free_canary(operation.provider, account, operation.id)
            return Held.CAP
        return None

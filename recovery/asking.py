"""The provider asked once more, because a person wants to know now. Writes no decision.

At most once in ten seconds about one question, whoever asks, and inside the read budget that all
replicas share. What came of it is kept beside the dossier, and says which answers it rules out.
"""

import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from dispatcher.provider import Effect, Look, Registry
from dispatcher.timing import Timing
from ledger.errors import OutliveError
from ledger.escalations import Escalation
from ledger.model import Json, Operation
from ledger.postgres.escalations import EscalationClosed
from ledger.postgres.ledger import Ledger
from recovery import verify
from recovery.assess import assess
from recovery.case import LIVE, Case, Seen
from recovery.dossier import effect_told
from recovery.limits import Limits
from recovery.observe import Sighting, observe
from recovery.verify import AdapterFailed, Verdict, VerdictRefused

EVERY_S: Final = 10.0
"""The provider is asked about one question at most once in so many seconds."""
PATIENCE_S: Final = 10.0
"""How long a person waits for the provider's answer."""

_NEED_THE_PROVIDER: Final = (
    Verdict.HAPPENED,
    Verdict.DONE_BY_HAND,
    Verdict.DID_NOT_HAPPEN,
    Verdict.SEND_AGAIN,
)
_SETTLES: Final = LIVE | {Seen.SATISFIED}

_log = logging.getLogger(__name__)


class Throttled(OutliveError):
    """Somebody asked a moment ago; says when it can be asked again."""

    code = "throttled"

    def __init__(self, wait_s: float) -> None:
        super().__init__(
            f"the provider was asked {max(0.0, EVERY_S - wait_s):.0f} s ago; again in "
            f"{wait_s:.0f} s"
        )
        self.wait_s = wait_s


@dataclass(frozen=True, slots=True)
class Asked:
    """What the provider says now, or that it said nothing."""

    at: datetime
    """The database's clock after the look-up."""
    trouble: str | None
    """Why it can't be believed, or that nobody answered; `None`: a whole answer."""
    detail: str
    seen: str
    """What the look-up comes to, e.g. `absent`."""
    effects: tuple[Effect, ...]
    proof: Mapping[str, Json]
    """Where it was looked, and whether all of it was read."""
    locked: Mapping[str, str]
    """Answers that can't be given as things stand, each with the reason."""
    answered_at: datetime | None
    """When the provider last gave a whole answer."""
    case_version: int

    def as_json(self) -> dict[str, Json]:
        """The form that is kept with the question."""
        return {
            "at": self.at.isoformat(),
            "trouble": self.trouble,
            "detail": self.detail,
            "seen": self.seen,
            "effects": [effect_told(effect) for effect in self.effects],
            "proof": dict(self.proof),
            "locked": dict(self.locked),
        }


class Asking:
    """Asks the provider about a question that is open."""

    def __init__(
        self,
        ledger: Ledger,
        registry: Registry,
        timing: Timing,
        limits: Limits,
        *,
        wall_s: Callable[[], float] = time.time,
    ) -> None:
        self._ledger = ledger
        self._registry = registry
        self._timing = timing
        self._limits = replace(limits, look_s=min(limits.look_s, PATIENCE_S))
        self._wall_s = wall_s

    async def ask(self, escalation: Escalation, *, by: str) -> Asked:
        """Look now. What settles the doubt has recovery look at once, and raises the case version.

        Raises:
            VerdictRefused: The question is about no single operation.
            EscalationClosed: It is answered.
            Throttled: It was asked a moment ago.
            AdapterFailed: Our own code broke.
        """
        if escalation.operation_id is None:
            raise VerdictRefused("this question is about no single operation: nothing to ask")
        may = await self._ledger.pool.row("take_asking", id=escalation.id, every_s=EVERY_S)
        if may is None:
            raise EscalationClosed("this question is answered; there is nothing to ask about")
        if may["wait_s"] > 0:
            raise Throttled(float(may["wait_s"]))
        operation = await self._ledger.operation(escalation.operation_id)
        kind = self._registry.get(operation.type)
        try:
            sighting = await observe(
                *(operation, kind, self._ledger, self._timing, self._limits), wall_s=self._wall_s
            )
            case = assess(operation, sighting.look, sighting.world, sighting.at)
        except OutliveError:
            raise
        except Exception as error:
            _log.exception("the provider could not be asked about %s", operation.id)
            raise AdapterFailed(
                f"Outlive's own code failed while {operation.provider} was asked "
                f"({type(error).__name__}). Nothing was recorded; the log has the details."
            ) from error
        version = operation.case_version
        if case.seen in _SETTLES:
            version = await self._ledger.wake(
                operation.id, actor=by, kind="asked", told={"seen": case.seen.value}
            )
        asked = _asked(operation, sighting, case, version)
        return await self._keep(escalation, asked)

    async def _keep(self, escalation: Escalation, asked: Asked) -> Asked:
        row = await self._ledger.pool.row(
            "keep_asked",
            id=escalation.id,
            asked=json.dumps(asked.as_json()),
            silent=asked.trouble is not None,
        )
        kept = None if row is None else row["asked"]
        return replace(asked, answered_at=answered_at(escalation, kept))


def answered_at(escalation: Escalation, asked: Mapping[str, Json] | None) -> datetime | None:
    """When the provider last gave a whole answer about it; the dossier's look-up counts as well."""
    answer = (asked or {}).get("answer")
    if answer is not None:
        return datetime.fromisoformat(answer["at"])
    provider: Mapping[str, Json] | None = escalation.dossier.get("provider")
    looked_at: str | None = escalation.dossier.get("looked_at")
    if looked_at is None or provider is None or provider.get("trouble") is not None:
        return None
    return datetime.fromisoformat(looked_at)


def locked_answers(operation: Operation, sighting: Sighting, case: Case) -> dict[str, str]:
    """Answers that would be refused on what is known now, each with the reason. Pure.

    An answer that names an effect is checked when it is given, so a provider that answers locks
    none of those.
    """
    trouble = sighting.look.trouble
    if trouble is not None:
        why = f"{operation.provider} did not answer ({trouble.value}); this answer needs it"
        locked = {verdict.value: why for verdict in _NEED_THE_PROVIDER}
    else:
        locked = _refused(
            {
                Verdict.DID_NOT_HAPPEN: lambda: verify.can_not_have_happened(
                    operation, sighting, case
                ),
                Verdict.SEND_AGAIN: lambda: verify.may_be_sent_again(operation, sighting, case),
            }
        )
    return locked | _refused(
        {
            Verdict.GIVE_UP: lambda: verify.must_be_open(operation),
            Verdict.SEEN: lambda: verify.must_be_closed(operation),
        }
    )


def _refused(checks: Mapping[Verdict, Callable[[], None]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for verdict, check in checks.items():
        try:
            check()
        except VerdictRefused as refused:
            found[verdict.value] = str(refused)
    return found


def _asked(operation: Operation, sighting: Sighting, case: Case, case_version: int) -> Asked:
    look = sighting.look
    return Asked(
        at=sighting.at,
        trouble=None if look.trouble is None else look.trouble.value,
        detail=look.detail,
        seen=case.seen.value,
        effects=look.effects,
        proof=_proof(operation, look),
        locked=locked_answers(operation, sighting, case),
        answered_at=None,
        case_version=case_version,
    )


def _proof(operation: Operation, look: Look) -> dict[str, Json]:
    """What an absence rests on: an adapter that could not prove its place reports a trouble."""
    return {
        "account": operation.subject.account,
        "livemode": operation.subject.livemode,
        "on": operation.subject.object_id,
        "complete": look.trouble is None and not look.blind,
        "remaining_minor": look.remaining_minor,
        "gone": list(look.gone),
    }

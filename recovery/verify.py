"""What a person can answer, and whether it fits the provider and the record. Writes nothing.

Each function returns what the answer rests on, or refuses it in words that say why.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from dispatcher.provider import Effect, OperationType, Trouble
from ledger.errors import OutliveError, ProviderError
from ledger.model import FINAL, Liveness, Money, Operation, State
from ledger.postgres.ledger import Ledger
from recovery.case import LIVE, Case, Held, Seen
from recovery.dossier import window_ends_at
from recovery.observe import Sighting

_SOMETHING_STANDS: Final = LIVE | {Seen.DUPLICATE, Seen.MISMATCH, Seen.SATISFIED}
_NOTHING_SEEN: Final = frozenset({Seen.ABSENT, Seen.BLIND})


class Verdict(StrEnum):
    """What a person can answer."""

    HAPPENED = "happened"
    DONE_BY_HAND = "done-by-hand"
    DID_NOT_HAPPEN = "did-not-happen"
    SEND_AGAIN = "send-again"
    GIVE_UP = "give-up"
    WAIT = "wait"
    SEEN = "seen"


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
class Differs:
    """In what the named effect and the operation differ, for programs and pages."""

    field: str
    """`amount`, `currency`, `target` or `ours`."""
    expected: str
    got: str


class VerdictRefused(OutliveError):
    """The answer contradicts what is known. Nothing was recorded but the refusal."""

    code = "verdict_refused"

    def __init__(self, told: str, *, differs: Differs | None = None) -> None:
        super().__init__(told)
        self.differs = differs
        self.case_version: int | None = None
        """The operation's, after the refusal was entered in its history."""


class AdapterFailed(OutliveError):
    """Our own code broke while the provider was asked. Nothing was recorded, nothing was sent."""

    code = "adapter_failed"


async def named_effect(
    operation: Operation, kind: OperationType, ledger: Ledger, reference: str | None
) -> Effect:
    """Fetch the effect that a person named, if it can be this operation's.

    Raises:
        VerdictRefused: It does not exist, stands for nothing, or is something else's.
        ProviderError: The provider could not be asked.
    """
    if not reference:
        raise VerdictRefused("name the effect (`--reference re_…`)")
    found = await kind.fetch(operation, reference)
    if isinstance(found, Trouble):
        raise _not_asked(operation, found)
    if found is None:
        raise VerdictRefused(f"{operation.provider} has no {reference}")
    if not found.subject_matches or found.money != operation.subject.money:
        where = "the same target" if found.subject_matches else "another target or mode"
        raise VerdictRefused(
            f"{reference} is not this operation's effect: it is {_amount(kind, found.money)} on "
            f"{where}, this operation is {_amount(kind, operation.subject.money)} on "
            f"{operation.subject.object_id}",
            differs=_difference(operation, kind, found),
        )
    if found.liveness is Liveness.DEAD:
        raise VerdictRefused(f"{reference} is {found.provider_status}: it had no effect")
    if reference in operation.snapshot.get("references", ()):
        raise VerdictRefused(
            f"{reference} stood before this operation was authorized: it is an earlier effect",
            differs=Differs("ours", str(operation.id), "an earlier effect"),
        )
    if found.marker is not None and found.marker.operation_id != operation.id:
        raise VerdictRefused(
            f"{reference} carries the id of {found.marker.operation_id}",
            differs=Differs("ours", str(operation.id), str(found.marker.operation_id)),
        )
    other = await ledger.pool.row(
        "used_reference", id=operation.id, reference=reference, provider=operation.provider
    )
    if other is not None:
        raise VerdictRefused(
            f"{reference} is the effect of operation {other['id']} already",
            differs=Differs("ours", str(operation.id), str(other["id"])),
        )
    return found


def may_have_happened(operation: Operation, effect: Effect) -> None:
    """Refuse *it happened* where the record and the named effect can't go together."""
    if operation.state is State.CREATED:
        raise VerdictRefused(
            "as far as the record knows, nothing of this operation was ever sent. If "
            f"{effect.reference} replaces it, answer `done-by-hand`; if it carries its id, "
            "recovery enters it by itself"
        )
    if operation.state in FINAL and effect.liveness is not Liveness.SUCCEEDED:
        raise VerdictRefused(
            f"{effect.reference} is {effect.provider_status}; a closed record says confirmed only "
            "of what has succeeded"
        )


def may_be_by_hand(operation: Operation, effect: Effect) -> None:
    """Refuse *done by hand* for what this operation did itself."""
    if effect.marker is not None:
        raise VerdictRefused(
            f"{effect.reference} carries this operation's id: answer `happened` instead"
        )
    must_be_open(operation)


def must_be_open(operation: Operation) -> None:
    """Refuse an answer that gives an operation up although its record is closed."""
    if operation.state in FINAL:
        raise VerdictRefused(
            f"the record is closed as {operation.state.value}; correct it by `happened` or "
            "`did-not-happen`, or answer `seen`"
        )


def must_be_closed(operation: Operation) -> None:
    """Refuse a nod where the operation would be left without an end."""
    if operation.state not in FINAL and not operation.never_send:
        raise VerdictRefused(
            "the record is open: it needs an answer (`happened`, `did-not-happen`, `give-up`, …), "
            "not a nod"
        )


def can_not_have_happened(operation: Operation, sighting: Sighting, case: Case) -> None:
    """Refuse *it did not happen* while something of it stands, or may still come."""
    if case.seen in _SOMETHING_STANDS:
        raise VerdictRefused(
            f"{operation.provider} shows that it took effect ({case.seen.value.replace('_', ' ')})"
        )
    if case.settling:
        raise VerdictRefused(
            "an attempt may still take effect unseen; wait until it has settled "
            f"({operation.settled_at})"
        )
    must_be_seen(operation, sighting)


def may_be_sent_again(operation: Operation, sighting: Sighting, case: Case) -> None:
    """Refuse *send again* where it could act twice, or on another world than was approved."""
    if operation.state in FINAL or operation.never_send:
        raise VerdictRefused("the record is closed or given up; make a new proposal instead")
    must_be_seen(operation, sighting)
    told = {
        f"the provider shows it ({case.seen.value.replace('_', ' ')})": case.seen
        not in _NOTHING_SEEN,
        "an attempt may still take effect unseen": case.settling,
        f"a precondition is gone ({case.precondition})": case.precondition is not None,
        "the target can't take the amount any more": case.remainder_too_small,
        "the stored request is not what this code would send": case.drift,
        f"sending is held back ({case.held})": case.held not in {None, Held.NOT_BEFORE},
    }
    reasons = [why for why, holds in told.items() if holds]
    if reasons:
        raise VerdictRefused("not sent again: " + "; ".join(reasons))


def seconds_to_wait(
    operation: Operation, kind: OperationType, until: datetime | None, now: datetime
) -> float:
    """How long *wait until* waits: at most to the end of the key's window, while that is open."""
    if until is None or until.tzinfo is None or until <= now:
        raise VerdictRefused("name a time in the future to wait until, with its zone")
    ends = window_ends_at(operation, kind.capabilities.key)
    if ends is not None and until > ends > now:
        raise VerdictRefused(f"the key's window ends at {ends.isoformat()}; wait at most so long")
    return (until - now).total_seconds()


def must_be_seen(operation: Operation, sighting: Sighting) -> None:
    """Refuse to record anything on a look-up that said nothing."""
    if sighting.look.trouble is not None:
        raise _not_asked(operation, sighting.look.trouble)


def _not_asked(operation: Operation, trouble: Trouble) -> ProviderError:
    return ProviderError(
        f"{operation.provider} could not be asked ({trouble.value}); nothing was recorded, "
        "try again",
        code="provider_unreachable",
    )


def _difference(operation: Operation, kind: OperationType, found: Effect) -> Differs:
    """The first field in which they differ: the target before the money."""
    wanted = operation.subject.money
    if not found.subject_matches:
        got = found.object_id or "another target, account or mode"
        return Differs("target", operation.subject.object_id, got)
    if wanted is not None and found.money is not None and wanted.currency != found.money.currency:
        return Differs("currency", wanted.currency, found.money.currency)
    return Differs("amount", _amount(kind, wanted), _amount(kind, found.money))


def _amount(kind: OperationType, money: Money | None) -> str:
    return "no amount" if money is None else kind.major(money)

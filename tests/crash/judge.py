"""The verdict on a case: what the provider knows to be true, against what the ledger says. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

from ledger.model import Attempt, Operation, Outcome, State
from tests.crash.cases import Case, Kind, World
from tests.crash.play import Played
from tests.crash.victim import FENCED

DEAD: Final = frozenset({"failed", "canceled", "gone"})
CLOCK_SLACK: Final = timedelta(seconds=1)
"""The provider and the database read the time one after the other."""
WINDOW: Final = timedelta(hours=23)
UNSEEN: Final = timedelta(seconds=30 + 180)
"""How long a sending may take effect after its last byte: kernel and provider."""
TRUTH_MOST_S: Final = 24 * 3600.0 + 3600.0
"""A saved 500 is waited out for a day; nothing else takes longer."""

PERSONS: Final = frozenset(
    {
        "DUPLICATE_EFFECT",
        "EFFECT_MISMATCH",
        "LATE_EFFECT",
        "LATE_FAILURE_AFTER_SUCCESS",
        "POSSIBLE_HAND_DOUBLE",
    }
)
"""Questions that are put because the provider's answer is known, not because it is missing."""


class Wrong(StrEnum):
    """Kinds of violation."""

    DUPLICATE = "duplicates"
    LOSS = "losses"
    RECORD = "wrong records"
    STUCK = "stuck"
    RESEND = "unsafe resends"
    FELL = "fell over"
    """A worker ended in a way that nobody foresaw."""
    MISSED = "steps missed"
    """The victim never came to its step: the case proves nothing."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One violation."""

    kind: Wrong
    told: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found."""

    played: Played
    faults: tuple[Fault, ...]
    questions: tuple[str, ...]
    """Reasons of all questions that were asked."""
    needless: tuple[str, ...]
    """Those whose answer the provider shows by itself."""


def judge(played: Played) -> Verdict:
    """Judge one case."""
    operation = played.operation
    if operation is None:
        told = Fault(Wrong.STUCK, played.stuck or "there is no operation")
        return Verdict(played, (told,), (), ())
    ours = [effect for effect in played.journal if _ours(effect, operation, played)]
    live = [effect for effect in ours if effect["status"] not in DEAD or _is_cancel(effect)]
    questions = tuple(reason for q in played.questions for reason in q["reasons"])
    faults = (
        *_stuck(played, operation),
        *_duplicates(live),
        *_losses(operation, live, questions, satisfied=_satisfied(played)),
        *_wrong(operation, ours, live),
        *_unsafe(played, operation),
        *_fell(played),
    )
    return Verdict(played, tuple(faults), questions, _needless(played, live))


def _ours(effect: dict[str, Any], operation: Operation, played: Played) -> bool:
    """Whether one of our sendings made it, whatever became of its marker since."""
    if effect["idempotency_key"] is not None:
        return bool(effect["idempotency_key"] == operation.idempotency_key)
    return any(request["request_id"] == effect["request_id"] for request in played.sendings)


def _is_cancel(effect: dict[str, Any]) -> bool:
    return bool(effect["kind"] == "subscription_cancel")


def _stuck(played: Played, operation: Operation) -> Iterator[Fault]:
    if played.stuck is not None:
        yield Fault(Wrong.STUCK, played.stuck)
    elif not (operation.final or operation.escalated):
        yield Fault(Wrong.STUCK, f"{operation.state}, and nobody is asked")
    elif played.truth_after_s > TRUTH_MOST_S:
        yield Fault(Wrong.STUCK, f"the truth took {played.truth_after_s:.0f} s")
    if played.case.step and not played.reached and not played.case.step.startswith("call"):
        yield Fault(Wrong.MISSED, f"the victim never came to {played.case.step}")


def _duplicates(live: list[dict[str, Any]]) -> Iterator[Fault]:
    if len(live) > 1:
        yield Fault(Wrong.DUPLICATE, f"{len(live)} effects of one operation")


def _satisfied(played: Played) -> bool:
    """A state that was set is there, whoever set it: after doubt that counts as ours."""
    return any(_is_cancel(effect) for effect in played.journal)


def _losses(
    operation: Operation,
    live: list[dict[str, Any]],
    questions: tuple[str, ...],
    *,
    satisfied: bool,
) -> Iterator[Fault]:
    """A record that denies an effect, or claims one; in front of a person it is known."""
    known = operation.escalated and PERSONS & set(questions)
    if operation.state is State.CONFIRMED and not live and not satisfied and not known:
        yield Fault(Wrong.LOSS, "confirmed, and there is no effect")
    if operation.state is State.FAILED and live and not known:
        yield Fault(Wrong.LOSS, "failed, and there is an effect")


def _wrong(
    operation: Operation, ours: list[dict[str, Any]], live: list[dict[str, Any]]
) -> Iterator[Fault]:
    references = {effect["object_id"] for effect in ours}
    if operation.reference is not None and operation.reference not in references:
        yield Fault(Wrong.RECORD, f"{operation.reference} is not ours")
    money = operation.subject.money
    for effect in live:
        if money is not None and effect["amount"] != money.amount_minor:
            yield Fault(Wrong.RECORD, f"{effect['amount']} moved, {money.amount_minor} approved")
    if operation.final and operation.in_doubt:
        yield Fault(Wrong.RECORD, "closed, and still in doubt")
    if operation.state is State.CREATED and operation.attempts:
        yield Fault(Wrong.RECORD, "created, with attempts")


def _unsafe(played: Played, operation: Operation) -> Iterator[Fault]:
    """Every sending has its attempt, and every attempt after doubt was allowed."""
    if len(played.sendings) > len(operation.attempts):
        told = f"{len(played.sendings)} sendings, {len(operation.attempts)} attempts"
        yield Fault(Wrong.RESEND, told)
    for request in played.sendings:
        key = request["idempotency_key"]
        if played.case.kind is Kind.REFUND and key != operation.idempotency_key:
            yield Fault(Wrong.RESEND, f"sent under {key}")
        if not _in_time(request, operation, played.case):
            yield Fault(Wrong.RESEND, f"request {request['n']} left outside every attempt's time")
    for attempt in operation.attempts[1:]:
        yield from _unsafe_after_doubt(attempt, operation, played.case)


def _in_time(request: dict[str, Any], operation: Operation, case: Case) -> bool:
    """Whether the request arrived while an attempt was allowed to leave.

    A process that is stopped after its last look at the clock sends when it wakes: nothing in
    it can prevent that. The key does.
    """
    if case.wakes and case.step.startswith(("guard_after", "headers", "body", "call")):
        return True
    return any(
        attempt.started_at.timestamp() - CLOCK_SLACK.total_seconds()
        <= request["at"]
        <= attempt.send_not_after.timestamp() + CLOCK_SLACK.total_seconds()
        for attempt in operation.attempts
    )


def _unsafe_after_doubt(attempt: Attempt, operation: Operation, case: Case) -> Iterator[Fault]:
    earlier = [a for a in operation.attempts if a.number < attempt.number]
    doubtful = [a for a in earlier if _unknown_at(a, attempt)]
    if not doubtful:
        return
    settled = max(a.send_not_after for a in doubtful) + UNSEEN
    if attempt.started_at < settled:
        yield Fault(Wrong.RESEND, f"attempt {attempt.number} left before it was settled")
    if case.kind is Kind.REFUND:
        # An attempt that is proven unsent has told the provider no key.
        first = min(a.started_at for a in earlier if a.outcome is not Outcome.NOT_SENT)
        if attempt.started_at >= first + WINDOW:
            yield Fault(Wrong.RESEND, f"attempt {attempt.number} left after the key's window")
        if any(a.credential != attempt.credential for a in doubtful):
            yield Fault(Wrong.RESEND, f"attempt {attempt.number} left under another credential")


def _unknown_at(earlier: Attempt, later: Attempt) -> bool:
    """Whether nobody knew what `earlier` had done when `later` began."""
    heard = earlier.finished_at is not None and earlier.finished_at <= later.started_at
    return not heard or earlier.outcome is Outcome.AMBIGUOUS


def _fell(played: Played) -> Iterator[Fault]:
    if played.stuck is not None:
        return
    allowed = {0, FENCED} if played.case.wakes else {-9}
    if played.statuses.get("victim") not in allowed:
        yield Fault(Wrong.FELL, f"the victim ended with {played.statuses.get('victim')}")
    if played.statuses.get("heir") != 0:
        yield Fault(Wrong.FELL, f"the successor ended with {played.statuses.get('heir')}")
    if "Traceback" in played.log:
        yield Fault(Wrong.FELL, "a worker logged a failure of its own code")


def _needless(played: Played, live: list[dict[str, Any]]) -> tuple[str, ...]:
    """Questions about doubt, although the effect stood there with our marker on it."""
    if played.case.world is World.WIPED:
        return ()
    return tuple(
        reason
        for question in played.questions
        for reason in question["reasons"]
        if reason not in PERSONS
        and any(effect["at"] < question["opened_at"].timestamp() for effect in live)
    )

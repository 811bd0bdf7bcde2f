"""When to look again, and when a wait has lasted long enough to ask a person. Pure."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from dispatcher.provider import Look, Wait, Waits
from ledger.escalations import ABOUT_LOOKING
from ledger.model import Operation
from recovery.case import Action, Decision, World
from recovery.doubt import busy_until, interval_s, not_before, settles_at

JUST_AFTER_S: Final = 0.001
"""A check at the very moment would still be too early by a hair."""

LONGEST_TOLD_S: Final = 3600.0
"""Whatever the provider asks for, a look once an hour: an authorization or a window may end."""

_HOLD: Final = Wait(300.0, 2, 3600.0, None)

SPREAD: Final = 0.25
"""How far checks that were all told the same moment are spread, as a part of the pause."""


@dataclass(frozen=True, slots=True)
class Paced:
    """A decision with its time."""

    decision: Decision
    """The wait itself, or its escalation once the limit has passed."""
    check_in_s: float
    """Looking goes on under an escalation too: the provider's answer may settle it."""
    notify: bool
    """People are to be told that this wait goes on."""


def pace(
    decision: Decision, operation: Operation, look: Look, world: World, now: datetime
) -> Paced:
    """Time a `WAIT`.

    Raises:
        ValueError: The decision is no wait.
    """
    if decision.action is not Action.WAIT:
        raise ValueError(f"{decision.action} is not a wait")
    waited_s = _waited_s(decision, operation, world, now)
    notify = decision.notify_after_s is not None and waited_s >= decision.notify_after_s
    if decision.code == "SETTLING":
        return Paced(decision, _until_settled_s(operation, world, now), notify)
    wait = _wait_of(decision.code, world.waits)
    check_in_s = _check_in_s(decision, operation, look, world, now)
    if decision.then is None or wait.limit_s is None:
        return Paced(decision, check_in_s, notify)
    if (
        waited_s >= wait.limit_s
        or _unseen_too_long(decision, world, now)
        or _already_asked(decision, operation)
    ):
        asked = replace(decision, action=Action.ESCALATE, code=decision.then, then=None)
        return Paced(asked, check_in_s, notify)
    return Paced(decision, min(check_in_s, wait.limit_s - waited_s + JUST_AFTER_S), notify)


def patience_s(code: str, waits: Waits) -> float | None:
    """How long a wait with this code lasts at most before a person is asked; `None`: no limit."""
    return _wait_of(code, waits).limit_s


def hold_s(operation: Operation, decision: Decision) -> float:
    """The next look while a question is open: less and less often, at least every hour."""
    times = operation.decision_count if operation.decision == decision.code else 0
    return interval_s(_HOLD, times)


def _wait_of(code: str, waits: Waits) -> Wait:
    """The wait that a code follows; every `NOT_YET_…` follows `not_yet`."""
    known = {
        "PROVIDER_PENDING": waits.pending,
        "CUSTOMER_ACTION": waits.customer_action,
        "PROVIDER_AUTH": waits.auth,
        "TARGET_NOT_VISIBLE": waits.not_visible,
        "PROVIDER_UNREACHABLE": waits.unreachable,
        "CONFIRMED_UNSEEN": waits.vanished,
        "ACCEPTED_UNSEEN": waits.accepted_unseen,
        "CACHED_500": waits.cached_500,
    }
    return known.get(code, waits.not_yet)


def _waited_s(decision: Decision, operation: Operation, world: World, now: datetime) -> float:
    """How long this wait has lasted.

    Another decision in between starts it anew, but not a look-up that said nothing: an outage
    now and then must not put a limit off for ever.
    """
    began = [now]
    if operation.decision == decision.code and operation.decision_since is not None:
        began.append(operation.decision_since)
    if world.waiting is not None and world.waiting[0] == decision.code:
        began.append(world.waiting[1])
    return (now - min(began)).total_seconds()


def _unseen_too_long(decision: Decision, world: World, now: datetime) -> bool:
    """Whether look-ups have said nothing beyond every limit, each time for another reason."""
    if decision.code not in ABOUT_LOOKING or world.unseen_since is None:
        return False
    limits = [_wait_of(code, world.waits).limit_s for code in ABOUT_LOOKING]
    longest_s = max((limit_s for limit_s in limits if limit_s is not None), default=None)
    unseen_s = (now - world.unseen_since).total_seconds()
    return longest_s is not None and unseen_s >= longest_s


def _already_asked(decision: Decision, operation: Operation) -> bool:
    """Whether this wait's question is open; the last decision then bears the question's code."""
    asked = decision.then != decision.code and operation.decision == decision.then
    return asked and operation.escalated


def _until_settled_s(operation: Operation, world: World, now: datetime) -> float:
    ends = [settles_at(operation, world), busy_until(operation, world)]
    return max((_until_s(end, now) for end in ends if end is not None), default=0.0) + JUST_AFTER_S


def _check_in_s(
    decision: Decision, operation: Operation, look: Look, world: World, now: datetime
) -> float:
    """As told by the provider, spread; else the wait's own growing interval."""
    wait = _wait_of(decision.code, world.waits)
    same = operation.decision in {decision.code, decision.then}
    times = operation.decision_count if same else 0
    interval = interval_s(wait, times)
    told_s = _told_s(decision, operation, look, world, now)
    if told_s is None:
        return interval
    if decision.code != "NOT_YET_NOT_BEFORE":
        told_s = max(told_s, interval)
    return min(told_s, LONGEST_TOLD_S) * (1 + SPREAD * _share(operation.id)) + JUST_AFTER_S


def _told_s(
    decision: Decision, operation: Operation, look: Look, world: World, now: datetime
) -> float | None:
    if decision.code == "NOT_YET_NOT_BEFORE":
        pause_ends = not_before(operation, world.waits)
        return None if pause_ends is None else _until_s(pause_ends, now)
    return look.retry_after_s


def _until_s(moment: datetime, now: datetime) -> float:
    return max(timedelta(0), moment - now).total_seconds()


def _share(operation_id: UUID) -> float:
    """A number from 0 to 1 that differs between operations and never for one."""
    return operation_id.int % 1009 / 1009

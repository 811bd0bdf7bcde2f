"""From raw material (attempts, one look-up, the ledger's own knowledge) to a case. Pure.

Every judgement takes the cautious side: what is not recorded is ambiguous, what is not known to
be ours is foreign, a precondition that is gone counts even if it was so when a person approved,
and what can't be proven to lie inside the key's window lies outside.
"""

from datetime import datetime, timedelta

from dispatcher.deadline import MOST_SKEW_S
from dispatcher.provider import Look
from ledger.model import Operation
from recovery import doubt, sight
from recovery.case import UNSENT, AttemptClass, Case, Held, Permission, World

__all__ = ["MOST_SKEW_S", "World", "assess"]


def assess(operation: Operation, look: Look, world: World, now: datetime) -> Case:
    """Build the case. `now` is the database's clock."""
    attempts = doubt.attempt_class(operation, world)
    settles_at = doubt.settles_at(operation, world)
    busy_until = doubt.busy_until(operation, world)
    # "Absent" tells of the moment when the look-up began, not of its end.
    looked_at = now - timedelta(seconds=world.look_age_s)
    return Case(
        current=world.current,
        record=operation.state,
        given_up=operation.never_send,
        attempts=attempts,
        seen=sight.seen(operation, look, world),
        foreign=sight.foreign(operation, look, world),
        kind=world.capabilities.kind,
        window=doubt.window(operation, world, now),
        settled=settles_at is None or looked_at > settles_at,
        in_use_recent=busy_until is not None and looked_at <= busy_until,
        authorization=_permission(operation, attempts, now),
        precondition=look.gone[0] if look.gone else None,
        remainder_too_small=_remainder_too_small(operation, look),
        escalated=operation.escalated,
        drift=world.drift is not None,
        mismatch_seen=doubt.mismatch_seen(operation.attempts),
        saved_500=any(a.answer is not None and a.answer.saved_500 for a in operation.attempts),
        budget_spent=doubt.attempts_made(operation) >= world.waits.attempts,
        held=_held(operation, look, world, now),
        funds_short=sight.funds_short(operation, look, world),
    )


def _permission(operation: Operation, attempts: AttemptClass, now: datetime) -> Permission:
    """Judge the end that counts, as the gate does: `authorized_until` only while nothing arrived.

    Where the ledger knows of no doubt (a restored backup, whose attempts may be missing), what may
    leave is a first send to the gate.
    """
    authorization = operation.authorization
    if authorization.revoked_at is not None:
        return Permission.REVOKED
    first = attempts in UNSENT or not operation.in_doubt
    until = authorization.authorized_until if first else authorization.resend_until
    return Permission.VALID if now < until else Permission.EXPIRED


def _remainder_too_small(operation: Operation, look: Look) -> bool:
    money = operation.subject.money
    if money is None or look.remaining_minor is None:
        return False
    return look.remaining_minor < money.amount_minor


def _held(operation: Operation, look: Look, world: World, now: datetime) -> Held | None:
    holds = set(world.holds)
    if look.skew_s is not None and abs(look.skew_s + world.process_skew_s) > MOST_SKEW_S:
        holds.add(Held.CLOCK)
    pause_ends = doubt.not_before(operation, world.waits)
    if pause_ends is not None and now < pause_ends:
        holds.add(Held.NOT_BEFORE)
    return next((reason for reason in Held if reason in holds), None)

"""What the attempts may have done: class, window, settled, and when the next one may leave. Pure.

Doubt is sticky: an attempt without a recorded outcome is ambiguous, and no later answer clears
it, except a refusal that the provider saved under the same key. What is missing counts as the
worst that it can have been.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from dispatcher.provider import Wait, Waits
from ledger.model import Attempt, Operation, Outcome, Refusal, State
from recovery.case import AttemptClass, Window, World


def attempt_class(operation: Operation, world: World) -> AttemptClass:
    """Find the first class that holds over all attempts."""
    attempts = operation.attempts
    if recorded_references(operation):
        return AttemptClass.ACCEPTED
    if _has_key_verdict(operation, world):
        return AttemptClass.KEY_VERDICT
    if _history_incomplete(operation, world) or any(_may_have_acted(a) for a in attempts):
        return AttemptClass.AMBIGUOUS
    if any(_refused_for_good(a) for a in attempts):
        return AttemptClass.FINAL
    if any(a.outcome is Outcome.REFUSED for a in attempts):
        return AttemptClass.REFUSED_BEFORE
    return AttemptClass.NOT_SENT if attempts else AttemptClass.NONE


def recorded_references(operation: Operation) -> frozenset[str]:
    """Ids that the provider itself gave as the effect of one of our attempts."""
    accepted = (
        a.answer.reference
        for a in operation.attempts
        if a.answer is not None and a.answer.outcome is Outcome.ACCEPTED
    )
    return frozenset(r for r in (*accepted, operation.reference) if r is not None)


def settles_at(operation: Operation, world: World) -> datetime | None:
    """After which moment no attempt can take effect unseen; `None` where nothing was sent."""
    told = (operation.send_not_after, world.restored_at)
    last = [t for t in told if t is not None]
    last += [a.send_not_after for a in operation.attempts]
    if not last:
        return None
    return max(last) + timedelta(seconds=world.tcp_user_timeout_s) + _unseen_for(world)


def busy_until(operation: Operation, world: World) -> datetime | None:
    """Until when a 409 "in use" means that something may be executing."""
    heard = [
        a.finished_at or a.send_not_after
        for a in operation.attempts
        if a.answer is not None and a.answer.in_use
    ]
    return max(heard) + _unseen_for(world) if heard else None


def not_before(operation: Operation, waits: Waits) -> datetime | None:
    """Before which moment the next attempt must not leave: backoff, or as the provider told."""
    answered = [a for a in operation.attempts if a.answer is not None]
    if not answered:
        return None
    last = max(answered, key=lambda a: a.number)
    told_s = 0.0 if last.answer is None else last.answer.retry_after_s or 0.0
    pause_s = max(told_s, interval_s(waits.not_yet, attempts_made(operation) - 1))
    return (last.finished_at or last.send_not_after) + timedelta(seconds=pause_s)


def interval_s(wait: Wait, times: int) -> float:
    """The next pause of a wait that has already paused `times` times."""
    return min(wait.most_s, wait.first_s * wait.factor ** min(times, 64))


def attempts_made(operation: Operation) -> int:
    """How many attempts there were, read or not."""
    return max(operation.attempt_count, len(operation.attempts))


def mismatch_seen(attempts: Sequence[Attempt]) -> bool:
    """Whether the provider first saw the key with other parameters."""
    return any(a.answer is not None and a.answer.mismatch for a in attempts)


def window(operation: Operation, world: World, now: datetime) -> Window:
    """Judge whether the same key, sent now, is still known to be a repetition."""
    key = world.capabilities.key
    if key is None:
        return Window.OVER
    start = _window_start(operation, world)
    if start is not None and now - start >= timedelta(seconds=key.window_s):
        return Window.OVER
    used = {a.credential for a in operation.attempts if _may_have_acted(a)}
    strange = _history_incomplete(operation, world) or not used <= {world.credential}
    if strange and not key.spans_credentials:
        return Window.CREDENTIAL_CHANGED
    return Window.INSIDE


def _unseen_for(world: World) -> timedelta:
    promised = world.capabilities
    return timedelta(seconds=promised.processing_margin_s + promised.look_up_lag_s)


def _may_have_acted(attempt: Attempt) -> bool:
    """Whether it is not proven that this attempt had no effect."""
    answer = attempt.answer
    if answer is None or answer.in_use or answer.mismatch or answer.saved_500:
        return True
    return answer.outcome in {Outcome.AMBIGUOUS, Outcome.ACCEPTED}


def _refused_for_good(attempt: Attempt) -> bool:
    answer = attempt.answer
    if answer is None or answer.outcome is not Outcome.REFUSED:
        return False
    return answer.refusal is not Refusal.BEFORE_ENDPOINT


def _history_incomplete(operation: Operation, world: World) -> bool:
    """Whether attempts may be missing: a restored backup, or rows that were not read."""
    if world.restored_at is not None and _born_at(operation, world) <= world.restored_at:
        return not operation.final
    never_sent = operation.state in {State.CREATED, State.FAILED}
    return operation.attempt_count > len(operation.attempts) or (
        not operation.attempts and not never_sent
    )


def _born_at(operation: Operation, world: World) -> datetime:
    """Since when there has been something to send: its id came with the proposal."""
    return min(operation.created_at, world.proposed_at or operation.created_at)


def _window_start(operation: Operation, world: World) -> datetime | None:
    """Start of the first attempt that is not proven unsent; the earliest it can have been."""
    if _history_incomplete(operation, world):
        return _born_at(operation, world)
    tried = [a.started_at for a in operation.attempts if a.outcome is not Outcome.NOT_SENT]
    return min(tried, default=None)


def _has_key_verdict(operation: Operation, world: World) -> bool:
    """Whether a saved refusal speaks for all attempts: one key, one window, one credential."""
    key = world.capabilities.key
    start = _window_start(operation, world)
    if key is None or start is None or _history_incomplete(operation, world):
        return False
    if mismatch_seen(operation.attempts):
        return False
    end = start + timedelta(seconds=key.window_s)
    doubtful = [a for a in operation.attempts if _may_have_acted(a)]
    if any(a.send_not_after >= end for a in doubtful):
        return False
    return any(
        a.answer is not None
        and a.answer.key_verdict
        and _refused_for_good(a)
        and a.finished_at is not None
        and a.finished_at < end
        and (key.spans_credentials or all(d.credential == a.credential for d in doubtful))
        for a in operation.attempts
    )

"""Where an answer leaves its operation. Pure.

Only two answers close a record here: an accepted effect that stands, and a final refusal of an
additive effect when no other attempt was accepted or is ambiguous. After any of these, and always
for a target state, it is left to recovery, which looks first: a DELETE answered 404 may well have
worked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dispatcher.provider import Capabilities, Waits
from ledger.model import Answer, Attempt, Liveness, Outcome, Refusal, State

WATCH_S: Final = (3_600.0, 86_400.0, 7 * 86_400.0, 30 * 86_400.0)
"""When a final record is compared with the provider again: refunds can fail for 30 days.

Source: https://docs.stripe.com/refunds#failed-refunds
"""

AT_ONCE_S: Final = 0.0
"""Reading is always safe, so doubt is looked at right away."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The operation's state after an answer."""

    state: State
    in_doubt: bool
    failure_code: str | None
    check_s: float | None
    """Seconds until recovery looks at it; `None`: never again."""
    clear_window: bool
    """Every attempt is proven unsent, so the key's window has not begun."""


def conclude(  # noqa: PLR0911  one return for each kind of answer
    earlier: Sequence[Attempt], answer: Answer, capabilities: Capabilities, waits: Waits
) -> Conclusion:
    """Say where the operation stands after `answer`, given the attempts before it."""
    doubtful = any(attempt.outcome is Outcome.AMBIGUOUS for attempt in earlier)
    taken = any(attempt.outcome is Outcome.ACCEPTED for attempt in earlier)
    unsent = all(attempt.outcome is Outcome.NOT_SENT for attempt in earlier)
    pause_s = max(
        answer.retry_after_s or 0.0,
        min(waits.not_yet.most_s, waits.not_yet.first_s * waits.not_yet.factor ** len(earlier)),
    )
    match answer.outcome:
        case Outcome.ACCEPTED if answer.liveness is Liveness.SUCCEEDED:
            return _closed(State.CONFIRMED)
        case Outcome.ACCEPTED if answer.liveness is Liveness.DEAD:
            return _open(in_doubt=False, check_s=AT_ONCE_S)
        case Outcome.ACCEPTED:
            return _open(in_doubt=False, check_s=waits.pending.first_s)
        case Outcome.REFUSED if answer.refusal is Refusal.BEFORE_ENDPOINT:
            return _open(in_doubt=doubtful, check_s=pause_s)
        case Outcome.REFUSED if doubtful or taken or capabilities.target_state:
            return _open(in_doubt=doubtful, check_s=AT_ONCE_S)
        case Outcome.REFUSED:
            return _closed(State.FAILED, "REJECTED")
        case Outcome.NOT_SENT:
            return _open(in_doubt=doubtful, check_s=pause_s, clear_window=unsent)
        case Outcome.AMBIGUOUS:
            return _open(in_doubt=True, check_s=AT_ONCE_S)


def _open(*, in_doubt: bool, check_s: float, clear_window: bool = False) -> Conclusion:
    return Conclusion(State.SENT, in_doubt, None, check_s, clear_window)


def _closed(state: State, failure_code: str | None = None) -> Conclusion:
    return Conclusion(
        state, in_doubt=False, failure_code=failure_code, check_s=WATCH_S[0], clear_window=False
    )

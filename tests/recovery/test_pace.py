"""When recovery looks again, and when it asks."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from dispatcher.provider import Look, Waits
from ledger.model import Attempt, Operation
from recovery.assess import assess
from recovery.case import Action, Decision, Scope
from recovery.decide import decide
from recovery.pace import Paced, pace
from tests.recovery.given import (
    HOUR,
    IN_USE,
    LOST,
    NOT_SENT,
    UNAUTHORIZED,
    at,
    attempt,
    look,
    operation,
    world,
)

PENDING = Decision(Action.WAIT, "PROVIDER_PENDING", "PENDING_STALE")
UNREACHABLE = Decision(Action.WAIT, "PROVIDER_UNREACHABLE", "PROVIDER_UNREACHABLE", Scope.ACCOUNT)
QUIET = look()


def waiting(code: str, since: float, count: int, *attempts: Attempt, **changes: Any) -> Operation:
    """An operation whose last decision has this code since then, made so many times."""
    return operation(
        *attempts, decision=code, decision_since=at(since), decision_count=count, **changes
    )


def paced(decision: Decision, held: Operation, now: float, seen: Look = QUIET) -> Paced:
    """Time a decision in a quiet world."""
    return pace(decision, held, seen, world(), at(now))


@pytest.mark.parametrize(
    ("count", "expected"), [(0, 600), (1, 1200), (3, 4800), (6, 21_600), (5000, 21_600)]
)
def test_pending_is_asked_about_less_and_less_often(count: int, expected: float) -> None:
    """10 minutes, doubling to 6 hours; a huge count does no harm."""
    told = paced(PENDING, waiting("PROVIDER_PENDING", 0, count), 60)
    assert told == Paced(PENDING, expected, notify=False)


def test_another_decision_in_between_starts_the_wait_anew() -> None:
    """Neither its age nor its count carries over."""
    held = waiting("SETTLING", 0, 9)
    told = paced(PENDING, held, 20 * 24 * HOUR)
    assert told == Paced(PENDING, 600, notify=False)


def test_a_wait_becomes_its_question_at_its_limit() -> None:
    """14 days of pending; the row stays, looking goes on."""
    held = waiting("PROVIDER_PENDING", 0, 99)
    limit_s = 14 * 24 * HOUR
    assert paced(PENDING, held, limit_s - 1).decision is PENDING
    asked = paced(PENDING, held, limit_s)
    assert asked.decision == Decision(Action.ESCALATE, "PENDING_STALE")
    assert asked.check_in_s == 21_600


def test_the_last_check_before_a_limit_falls_on_the_limit() -> None:
    """The question is asked in time, not an interval later."""
    held = waiting("PROVIDER_PENDING", 0, 99)
    now = 14 * 24 * HOUR - 100
    check_in_s = paced(PENDING, held, now).check_in_s
    assert 100 < check_in_s < 101
    assert paced(PENDING, held, now + check_in_s).decision.action is Action.ESCALATE


def test_an_open_question_is_not_taken_back_by_its_own_new_code() -> None:
    """The last decision now bears the question's code; it is the same wait."""
    asked = waiting("PENDING_STALE", 0, 1, escalated=True)
    assert paced(PENDING, asked, 60).decision.code == "PENDING_STALE"
    answered = replace(asked, escalated=False)
    assert paced(PENDING, answered, 60).decision is PENDING


def test_a_question_of_something_else_does_not_cut_a_wait_short() -> None:
    """Wait and question share a code here: only time tells them apart."""
    held = waiting("PROVIDER_UNREACHABLE", 0, 1, escalated=True)
    assert paced(UNREACHABLE, held, 60).decision is UNREACHABLE


def test_a_question_about_the_account_keeps_its_scope() -> None:
    """One question, for all of the account's operations."""
    asked = paced(UNREACHABLE, waiting("PROVIDER_UNREACHABLE", 0, 9), HOUR)
    assert asked.decision.action is Action.ESCALATE
    assert asked.decision.scope is Scope.ACCOUNT
    assert asked.check_in_s == 600


def test_settling_is_checked_as_soon_as_absent_can_be_believed() -> None:
    """Exactly then, and the next decision is no `SETTLING` any more."""
    held = operation(attempt(1, 0, LOST), attempt(2, 60, IN_USE, heard=100))
    settling = Decision(Action.WAIT, "SETTLING")
    check_in_s = paced(settling, held, 200).check_in_s
    assert check_in_s == pytest.approx(60 + 100 + 180 - 200, abs=0.01)
    before = assess(held, QUIET, world(), at(200 + check_in_s - 0.01))
    after = assess(held, QUIET, world(), at(200 + check_in_s))
    assert decide(before).code == "SETTLING"
    assert decide(after).code != "SETTLING"


def test_a_pause_that_was_told_is_kept_and_spread() -> None:
    """A thousand operations that were all told 90 s do not come back in the same second."""
    limited = attempt(1, 0, replace(UNAUTHORIZED, http_status=429, retry_after_s=90))
    decision = Decision(Action.WAIT, "NOT_YET_NOT_BEFORE")
    checks = [
        paced(decision, operation(limited, id=UUID(int=n)), 31).check_in_s for n in range(1000)
    ]
    assert min(checks) > 60
    assert max(checks) < 60 * 1.26
    assert len(set(checks)) == 1000
    again = paced(decision, operation(limited, id=UUID(int=7)), 31).check_in_s
    assert again == checks[7]


def test_the_backoff_of_a_plain_failure_is_kept_too() -> None:
    """Nothing was told; 30 s after the first failure it may go on."""
    decision = Decision(Action.WAIT, "NOT_YET_NOT_BEFORE")
    check_in_s = paced(decision, operation(attempt(1, 0, NOT_SENT)), 11).check_in_s
    assert 20 < check_in_s < 26


def test_a_look_up_that_was_told_to_wait_never_comes_back_sooner() -> None:
    """Retry-After above the own interval counts, one below it does not."""
    held = waiting("PROVIDER_UNREACHABLE", 0, 2)
    assert paced(UNREACHABLE, held, 60, look(retry_after_s=300)).check_in_s > 300
    assert paced(UNREACHABLE, held, 60, look(retry_after_s=1)).check_in_s > 120


def test_a_provider_that_asks_for_a_week_is_looked_at_within_the_limit() -> None:
    """A bounded time to the truth."""
    held = waiting("PROVIDER_UNREACHABLE", 0, 1)
    check_in_s = paced(UNREACHABLE, held, 60, look(retry_after_s=7 * 24 * HOUR)).check_in_s
    assert check_in_s == pytest.approx(HOUR - 60, abs=0.01)


def test_a_saved_500_is_told_after_an_hour_of_waiting() -> None:
    """Nobody is woken at once, and nobody is left in the dark."""
    decision = Decision(Action.WAIT, "CACHED_500", notify_after_s=HOUR)
    held = waiting("CACHED_500", 0, 5)
    assert paced(decision, held, HOUR - 1) == Paced(decision, 600, notify=False)
    assert paced(decision, held, HOUR) == Paced(decision, 600, notify=True)


def test_missing_funds_are_told_at_once() -> None:
    """Somebody can do something about them."""
    decision = replace(PENDING, notify_after_s=0.0)
    assert paced(decision, operation(attempt(1, 0, LOST)), 60).notify


@pytest.mark.parametrize(
    ("code", "then", "first_s", "limit_s"),
    [
        ("CUSTOMER_ACTION", "CUSTOMER_ACTION", 600, 14 * 86_400),
        ("PROVIDER_AUTH", "PROVIDER_AUTH", 300, HOUR),
        ("TARGET_NOT_VISIBLE", "TARGET_NOT_VISIBLE", 60, 900),
        ("PROVIDER_UNREACHABLE", "PROVIDER_UNREACHABLE", 30, HOUR),
        ("CONFIRMED_UNSEEN", "EFFECT_VANISHED", 60, HOUR),
        ("ACCEPTED_UNSEEN", "EFFECT_VANISHED", 60, 24 * HOUR),
        ("NOT_YET_BRAKE", None, 30, None),
    ],
)
def test_each_wait_has_its_own_pace(
    code: str, then: str | None, first_s: float, limit_s: float | None
) -> None:
    """First interval and limit of every code, as the defaults have them."""
    decision = Decision(Action.WAIT, code, then)
    assert paced(decision, operation(), 0).check_in_s == first_s
    held = waiting(code, 0, 1)
    if limit_s is None:
        assert paced(decision, held, 1000 * HOUR).decision is decision
    else:
        assert paced(decision, held, limit_s - 1).decision is decision
        assert paced(decision, held, limit_s).decision.code == then


def test_a_type_may_declare_its_own_pace() -> None:
    """The defaults are defaults."""
    hasty = world(waits=replace(Waits(), pending=replace(Waits().pending, first_s=7)))
    told = pace(PENDING, operation(), QUIET, hasty, at(0) + timedelta(seconds=1))
    assert told.check_in_s == 7


def test_only_waits_are_paced() -> None:
    """Anything else is a mistake of the caller."""
    with pytest.raises(ValueError, match="resend is not a wait"):
        paced(Decision(Action.RESEND, "SAFE_REPLAY"), operation(), 0)

"""What the attempts mean: their class, the key's window, what has settled, what holds back."""

from dataclasses import replace

import pytest

from dispatcher.provider import Capabilities
from ledger.model import Answer, Attempt, Outcome
from recovery import doubt
from recovery.assess import assess
from recovery.case import Action, AttemptClass, Held, Permission, Window
from tests.recovery.assessed import ABSENT, SPANNING, case_of, told
from tests.recovery.given import (
    ACCEPTED,
    CANCEL,
    HOUR,
    IN_USE,
    LOST,
    MISMATCH,
    NOT_FOUND,
    NOT_SENT,
    REFUND,
    REFUSED,
    SAVED_500,
    UNAUTHORIZED,
    at,
    attempt,
    look,
    operation,
    world,
)

# Their class.


@pytest.mark.parametrize(
    ("attempts", "expected"),
    [
        ((), AttemptClass.NONE),
        ((attempt(1, 0, NOT_SENT),), AttemptClass.NOT_SENT),
        ((attempt(1, 0, NOT_SENT), attempt(2, 60, UNAUTHORIZED)), AttemptClass.REFUSED_BEFORE),
        ((attempt(1, 0, UNAUTHORIZED), attempt(2, 60, NOT_FOUND)), AttemptClass.FINAL),
        ((attempt(1, 0, LOST),), AttemptClass.AMBIGUOUS),
        ((attempt(1, 0, LOST), attempt(2, 60, NOT_SENT)), AttemptClass.AMBIGUOUS),
        ((attempt(1, 0, LOST), attempt(2, 60, UNAUTHORIZED)), AttemptClass.AMBIGUOUS),
        ((attempt(1, 0, LOST), attempt(2, 60, NOT_FOUND)), AttemptClass.AMBIGUOUS),
        ((attempt(1, 0, IN_USE),), AttemptClass.AMBIGUOUS),
        ((attempt(1, 0, SAVED_500),), AttemptClass.AMBIGUOUS),
        ((attempt(1, 0, LOST), attempt(2, 60, REFUSED)), AttemptClass.KEY_VERDICT),
        ((attempt(1, 0, REFUSED), attempt(2, 60, LOST)), AttemptClass.KEY_VERDICT),
        ((attempt(1, 0, LOST), attempt(2, 60, ACCEPTED)), AttemptClass.ACCEPTED),
        ((attempt(1, 0, ACCEPTED), attempt(2, 60, REFUSED)), AttemptClass.ACCEPTED),
        ((attempt(1, 0, Answer(Outcome.ACCEPTED)),), AttemptClass.AMBIGUOUS),
    ],
)
def test_the_first_class_that_holds_over_all_attempts(
    attempts: tuple[Attempt, ...], expected: AttemptClass
) -> None:
    """No later answer clears a doubt, except a refusal saved under the key."""
    assert case_of(*attempts).attempts is expected


@pytest.mark.parametrize(
    ("attempts", "capabilities"),
    [
        ((attempt(1, 0, LOST), attempt(2, 23 * HOUR, REFUSED)), REFUND),
        ((attempt(1, 0, LOST), attempt(2, 23 * HOUR - 10, REFUSED, heard=20)), REFUND),
        ((attempt(1, 0, LOST), attempt(2, 60, REFUSED, credential="k2")), REFUND),
        ((attempt(1, 0, LOST), attempt(2, 60, MISMATCH), attempt(3, 120, REFUSED)), REFUND),
        ((attempt(1, 0, REFUSED), attempt(2, 24 * HOUR, LOST)), REFUND),
        ((attempt(1, 0, LOST), attempt(2, 60, REFUSED)), CANCEL),
    ],
    ids=["late", "heard late", "other credential", "mismatch", "doubt after it", "no key"],
)
def test_a_refusal_that_does_not_speak_for_all_attempts_clears_no_doubt(
    attempts: tuple[Attempt, ...], capabilities: Capabilities
) -> None:
    """One key, one window, one credential, one request; or it says nothing of the others."""
    assert case_of(*attempts, where=world(capabilities)).attempts is AttemptClass.AMBIGUOUS


def test_a_verdict_under_another_credential_counts_where_keys_span_credentials() -> None:
    """The provider documents that the key outlives the credential."""
    attempts = attempt(1, 0, LOST), attempt(2, 60, REFUSED, credential="k2")
    assert case_of(*attempts, where=world(SPANNING)).attempts is AttemptClass.KEY_VERDICT


@pytest.mark.parametrize(
    "changes",
    [{"attempt_count": 2}, {"attempts": ()}],
    ids=["fewer than counted", "sent without any"],
)
def test_attempts_that_are_missing_count_as_ambiguous(changes: dict[str, object]) -> None:
    """Rows that were archived or never read must not look like a clean history."""
    case = assess(operation(attempt(1, 0, NOT_SENT), **changes), ABSENT, world(), at(HOUR))
    assert case.attempts is AttemptClass.AMBIGUOUS
    assert case.window is Window.CREDENTIAL_CHANGED


def test_after_a_restored_backup_a_created_operation_may_have_been_sent() -> None:
    """Its attempts may be lost: settle from the restoration, count the window from creation."""
    restored = world(SPANNING, restored_at=at(HOUR))
    fresh = assess(operation(), ABSENT, restored, at(HOUR + 100))
    assert (fresh.attempts, fresh.settled) == (AttemptClass.AMBIGUOUS, False)
    later = assess(operation(), ABSENT, restored, at(HOUR + 211))
    assert (later.settled, later.window) == (True, Window.INSIDE)
    assert assess(operation(), ABSENT, restored, at(23 * HOUR)).window is Window.OVER


# Window, settled, not before.


def test_the_window_counts_from_the_first_attempt_that_is_not_proven_unsent() -> None:
    """A connection that failed used no key; a 401 is not known to be that harmless."""
    unsent, lost = attempt(1, 0, NOT_SENT), attempt(2, 2 * HOUR, LOST)
    assert case_of(unsent, lost, now=24 * HOUR).window is Window.INSIDE
    assert case_of(unsent, lost, now=25 * HOUR).window is Window.OVER
    assert case_of(attempt(1, 0, UNAUTHORIZED), lost, now=23 * HOUR).window is Window.OVER


def test_the_stored_start_of_the_window_is_not_believed() -> None:
    """It is computed from the attempts: a column that was moved on would open the window again."""
    lost = operation(attempt(1, 0, LOST), window_started_at=at(20 * HOUR))
    assert assess(lost, ABSENT, world(), at(24 * HOUR)).window is Window.OVER


def test_another_credential_ends_the_window_unless_keys_span_credentials() -> None:
    """Keys may be scoped to the credential: the same key would be a new one."""
    rolled = attempt(1, 0, LOST, credential="k0")
    assert case_of(rolled).window is Window.CREDENTIAL_CHANGED
    assert case_of(rolled, where=world(SPANNING)).window is Window.INSIDE


def test_a_401_under_the_old_credential_does_not_end_the_window() -> None:
    """It never came as far as a key."""
    case = case_of(attempt(1, 0, UNAUTHORIZED, credential="k0"), attempt(2, 60, LOST))
    assert case.window is Window.INSIDE


def test_settled_is_after_the_last_possible_send_and_all_margins() -> None:
    """5 s budget, 30 s in the kernel, 180 s at the provider, 10 s until a list shows it."""
    lagging = world(replace(REFUND, look_up_lag_s=10))
    attempts = attempt(1, 0, LOST), attempt(2, 60, LOST)
    assert not case_of(*attempts, where=lagging, now=60 + 5 + 30 + 180 + 10).settled
    assert case_of(*attempts, where=lagging, now=60 + 5 + 30 + 180 + 10.001).settled


def test_a_409_that_was_heard_late_means_that_something_still_runs() -> None:
    """The request in front of it may take its whole margin from then on."""
    busy = attempt(1, 0, IN_USE, heard=100)
    assert case_of(busy, now=250).settled
    assert case_of(busy, now=250).in_use_recent
    assert not case_of(busy, now=280.001).in_use_recent


def test_the_next_attempt_waits_as_long_as_it_was_told() -> None:
    """429 with Retry-After: 90, and a backoff of 30 s that is shorter."""
    limited = attempt(1, 0, replace(UNAUTHORIZED, http_status=429, retry_after_s=90))
    assert case_of(limited, now=90).held is Held.NOT_BEFORE
    assert case_of(limited, now=91).held is None


def test_a_plain_failure_backs_off_before_the_next_attempt() -> None:
    """30 s after the first, 60 s after the second."""
    attempts = attempt(1, 0, NOT_SENT), attempt(2, 100, NOT_SENT)
    assert case_of(*attempts, now=160).held is Held.NOT_BEFORE
    assert told(case_of(*attempts, now=161)) == (Action.SEND, "NO_EFFECT_RESEND")


@pytest.mark.parametrize(("skew_s", "held"), [(60.0, None), (-61.0, Held.CLOCK)])
def test_clocks_that_disagree_let_nothing_out(skew_s: float, held: Held | None) -> None:
    """Provider's `Date` against the database's clock, corrected by the process's own error."""
    seen = look(skew_s=skew_s - 500)
    assert case_of(attempt(1, 0, LOST), seen=seen, where=world(process_skew_s=500)).held is held


def test_the_brake_is_named_before_anything_else() -> None:
    """One reason is shown, and it is the one that a person can lift."""
    holds = frozenset({Held.CAP, Held.TARGET_BUSY, Held.BRAKE})
    assert case_of(where=world(holds=holds)).held is Held.BRAKE


# Authorization.


def test_the_end_of_an_authorization_depends_on_what_the_attempts_may_have_done() -> None:
    """`authorized_until` for a first send, `resend_until` after doubt; revocation ends both."""
    assert case_of(now=HOUR).authorization is Permission.EXPIRED
    assert case_of(attempt(1, 0, NOT_SENT), now=HOUR).authorization is Permission.EXPIRED
    assert case_of(attempt(1, 0, LOST), now=HOUR).authorization is Permission.VALID
    assert case_of(attempt(1, 0, LOST), now=23 * HOUR).authorization is Permission.EXPIRED
    lost = operation(attempt(1, 0, LOST))
    revoked = replace(lost, authorization=replace(lost.authorization, revoked_at=at(1)))
    assert assess(revoked, ABSENT, world(), at(2)).authorization is Permission.REVOKED


# The budget, and the age of a look-up.


def test_six_attempts_are_the_budget() -> None:
    """Counted by the ledger, or by the rows, whichever is more."""
    five = [attempt(n, n * 1000, NOT_SENT) for n in range(1, 6)]
    assert not case_of(*five).budget_spent
    assert case_of(*five, attempt(6, 6000, NOT_SENT)).budget_spent


def test_a_look_that_began_too_early_does_not_show_what_has_settled_since() -> None:
    """Settled is judged at the moment when the look-up began."""
    lost = attempt(1, 0, LOST)
    ended = doubt.settles_at(operation(lost), world())
    assert ended is not None
    now = (ended - at(0)).total_seconds() + 10
    assert case_of(lost, now=now).settled
    assert not case_of(lost, where=world(look_age_s=11.0), now=now).settled

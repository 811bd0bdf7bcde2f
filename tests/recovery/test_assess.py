"""Named cases: what raw material must mean, and what recovery makes of it."""

from dataclasses import replace
from typing import Any

import pytest

from dispatcher.provider import Capabilities, Look, Trouble
from ledger.model import Answer, Attempt, Liveness, Marker, Money, Outcome, State
from recovery import doubt
from recovery.assess import World, assess
from recovery.case import Action, AttemptClass, Case, Held, Permission, Seen, Window
from recovery.decide import decide
from tests.recovery.given import (
    ACCEPTED,
    CANCEL,
    HOUR,
    IN_USE,
    LEDGER,
    LOST,
    MAIL,
    MISMATCH,
    NOT_FOUND,
    NOT_SENT,
    OPERATION,
    OTHER_LEDGER,
    REFUND,
    REFUSED,
    SAVED_500,
    SIBLING,
    UNAUTHORIZED,
    at,
    attempt,
    effect,
    look,
    operation,
    world,
)

ABSENT = look()
SPANNING = replace(REFUND, key=replace(REFUND.key, spans_credentials=True) if REFUND.key else None)


def case_of(
    *attempts: Attempt, seen: Look = ABSENT, where: World | None = None, now: float = 2 * HOUR
) -> Case:
    """Assess a refund with these attempts."""
    return assess(operation(*attempts), seen, where or world(), at(now))


def told(case: Case) -> tuple[Action, str]:
    """What is decided, and why."""
    decision = decide(case)
    return decision.action, decision.code


# The public reports that live here.


def test_three_409s_and_then_the_stored_success_end_confirmed() -> None:
    """stripe/stripe-ruby#431: “in progress” is no failure, and the first call succeeded."""
    busy = [attempt(n, n * 60, IN_USE) for n in (2, 3, 4)]
    assert told(case_of(attempt(1, 0, LOST), *busy, now=300)) == (Action.WAIT, "SETTLING")
    found = case_of(attempt(1, 0, LOST), *busy, seen=look(effect()), now=300)
    assert told(found) == (Action.FINISH_CONFIRMED, "CONFIRMED")


def test_a_mismatch_goes_to_a_person_and_never_gets_a_new_key() -> None:
    """vendurehq/vendure#2364: something changed between the attempts."""
    case = case_of(attempt(1, 0, LOST), attempt(2, 600, MISMATCH))
    assert told(case) == (Action.ESCALATE, "PARAM_DRIFT")


def test_a_key_that_is_too_old_is_not_used_again() -> None:
    """crbnos/carbon#252: after a day the provider may have forgotten the key."""
    lost = operation(attempt(1, 0, LOST))
    longer = replace(lost, authorization=replace(lost.authorization, resend_until=at(48 * HOUR)))
    assert told(assess(longer, ABSENT, world(), at(25 * HOUR))) == (
        Action.ESCALATE,
        "WINDOW_EXPIRED",
    )
    assert told(assess(longer, ABSENT, world(), at(22 * HOUR))) == (Action.RESEND, "SAFE_REPLAY")


def test_a_cancel_whose_repetition_answers_404_is_confirmed_by_its_target() -> None:
    """stripe/stripe-go#1887: the second DELETE says 404, the subscription is cancelled."""
    attempts = attempt(1, 0, LOST), attempt(2, 600, NOT_FOUND)
    case = case_of(*attempts, seen=look(satisfied=True), where=world(CANCEL))
    assert told(case) == (Action.FINISH_CONFIRMED, "CONFIRMED")


def test_a_second_refund_of_the_same_amount_is_not_taken_for_the_first() -> None:
    """medusajs/medusa#16681: two refunds of 30 are meant, and there are two, no more."""
    first = effect("re_1", Marker(LEDGER, 1, SIBLING))
    siblings = world(own_operations=frozenset({SIBLING}))
    lost = attempt(1, 0, LOST)
    assert told(case_of(lost, seen=look(first), where=siblings)) == (
        Action.RESEND,
        "SAFE_REPLAY",
    )
    both = look(first, effect("re_2"))
    assert told(case_of(lost, seen=both, where=siblings)) == (
        Action.FINISH_CONFIRMED,
        "CONFIRMED",
    )


# What the attempts mean.


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


# What the look-up means.


def test_an_effect_on_two_overlapping_pages_is_one_effect() -> None:
    """A list that shifts while it is read shows a row twice."""
    case = case_of(attempt(1, 0, LOST), seen=look(effect(), effect()))
    assert case.seen is Seen.OURS_SUCCEEDED


def test_two_living_effects_of_ours_are_a_duplicate_and_a_dead_one_is_not() -> None:
    """A refund that failed stands beside the one that came through."""
    dead = effect("re_2", liveness=Liveness.DEAD)
    assert case_of(seen=look(effect(), effect("re_2"))).seen is Seen.DUPLICATE
    assert case_of(seen=look(effect(), dead)).seen is Seen.OURS_SUCCEEDED


@pytest.mark.parametrize(
    "changes",
    [
        {"money": Money(3001, "eur")},
        {"money": Money(3000, "usd")},
        {"money": None},
        {"subject_matches": False},
    ],
    ids=["amount", "currency", "no money", "target or side effects"],
)
def test_our_id_on_something_else_is_a_mismatch(changes: dict[str, Any]) -> None:
    """Metadata can be changed by anyone with write access: the rest must fit too."""
    assert case_of(attempt(1, 0, LOST), seen=look(effect(**changes))).seen is Seen.MISMATCH


def test_another_ledgers_effect_is_foreign_even_with_our_operation_id() -> None:
    """A staging ledger on the same account."""
    case = case_of(seen=look(effect(marker=Marker(OTHER_LEDGER, 1, OPERATION))))
    assert (case.seen, case.foreign) == (Seen.ABSENT, True)


def test_an_older_epoch_of_this_ledger_is_ours() -> None:
    """It was sent before the backup was restored."""
    case = case_of(seen=look(effect()), where=world(epoch=7))
    assert case.seen is Seen.OURS_SUCCEEDED


def test_a_newer_epoch_means_that_this_ledger_is_the_stale_copy() -> None:
    """Another copy goes on elsewhere: what it did, this one can't know."""
    newer = effect("re_9", Marker(LEDGER, 2, SIBLING))
    siblings = world(own_operations=frozenset({SIBLING}))
    case = case_of(attempt(1, 0, LOST), seen=look(newer), where=siblings)
    assert case.seen is Seen.INCONSISTENT


def test_a_recorded_reference_is_ours_without_a_marker() -> None:
    """Somebody wiped the metadata; the provider itself had named the effect to us."""
    wiped = effect(marker=Marker(OTHER_LEDGER, 1, SIBLING))
    case = case_of(attempt(1, 0, ACCEPTED), seen=look(wiped))
    assert (case.seen, case.foreign) == (Seen.OURS_SUCCEEDED, False)


@pytest.mark.parametrize("trouble", Trouble)
def test_trouble_spoils_everything_but_a_living_find(trouble: Trouble) -> None:
    """A find is a find; absence, death and a reached state need a look-up that can be believed."""
    dead = effect(liveness=Liveness.DEAD)
    for unsure in (look(), look(dead), look(satisfied=True), look(blind=True)):
        assert case_of(seen=replace(unsure, trouble=trouble)).seen.value == trouble.value
    assert case_of(seen=look(effect(), trouble=trouble)).seen is Seen.OURS_SUCCEEDED


def test_foreign_goes_by_identity_never_by_time() -> None:
    """Known from the snapshot, a sibling's, dead, or wiped: only the last one is foreign."""
    other = Marker(OTHER_LEDGER, 1, SIBLING)
    siblings = world(own_operations=frozenset({SIBLING}), own_references=frozenset({"re_hand"}))
    sibling = effect("re_2", Marker(LEDGER, 1, SIBLING))
    known = look(effect("re_old", other), effect("re_hand", other), sibling)
    assert not case_of(seen=known, where=siblings).foreign
    assert not case_of(seen=look(effect("re_3", other, liveness=Liveness.DEAD))).foreign
    assert case_of(seen=look(effect("re_3", other, created_at=at(-HOUR)))).foreign
    assert case_of(seen=look(replace(effect("re_3"), marker=None))).foreign
    assert case_of(seen=look(sibling)).foreign


def test_what_is_gone_counts_even_if_it_was_gone_when_approved() -> None:
    """The cautious side: a person sees it again."""
    disputed = operation(attempt(1, 0, LOST), snapshot={"references": [], "gone": ["DISPUTED"]})
    case = assess(disputed, look(gone=("DISPUTED",)), world(), at(2 * HOUR))
    assert told(case) == (Action.ESCALATE, "DISPUTED")


def test_a_remainder_below_the_amount_does_not_stop_the_same_key() -> None:
    """With a key inside its window, sending the same key is the best look-up; else a person."""
    used_up = look(remaining_minor=2999)
    lost = attempt(1, 0, LOST)
    assert told(case_of(lost, seen=used_up)) == (Action.RESEND, "SAFE_REPLAY")
    assert told(case_of(seen=used_up, now=60)) == (Action.FINISH_FAILED, "REMAINDER_TOO_SMALL")
    tolerable = world(replace(REFUND, key=None, duplicate_tolerable=True))
    assert told(case_of(lost, seen=used_up, where=tolerable)) == (
        Action.ESCALATE,
        "REMAINDER_TOO_SMALL",
    )
    assert not case_of(lost, seen=look(remaining_minor=3000)).remainder_too_small


# Where there is nothing to look at.


def test_a_mail_whose_acceptance_was_heard_late_is_confirmed() -> None:
    """The relay's own answer is all that there will ever be."""
    accepted = replace(ACCEPTED, reference=None)
    case = case_of(attempt(1, 0, accepted), where=world(MAIL))
    assert told(case) == (Action.FINISH_CONFIRMED, "CONFIRMED")


def test_a_mail_without_an_answer_goes_to_a_person() -> None:
    """Never sent again by itself."""
    case = case_of(attempt(1, 0, LOST), where=world(MAIL))
    assert told(case) == (Action.ESCALATE, "NO_PROOF")


def test_two_references_from_a_blind_provider_are_a_duplicate() -> None:
    """The same key was answered with two different effects."""
    blind = world(replace(REFUND, looks_up=False))
    other = replace(ACCEPTED, reference="re_2")
    assert case_of(attempt(1, 0, ACCEPTED), attempt(2, 60, other), where=blind).seen is (
        Seen.DUPLICATE
    )


# The rest of the case.


def test_a_dead_effect_does_not_end_the_operation_while_an_attempt_is_under_way() -> None:
    """The second attempt may still come to life."""
    dead = look(effect(liveness=Liveness.DEAD))
    attempts = attempt(1, 0, LOST), attempt(2, 600, LOST)
    assert told(case_of(*attempts, seen=dead, now=700)) == (Action.WAIT, "SETTLING")
    assert told(case_of(*attempts, seen=dead, now=900)) == (
        Action.FINISH_FAILED,
        "PROVIDER_FAILED",
    )


def test_a_target_reached_after_the_record_says_failed_comes_before_a_person() -> None:
    """A person had said that it did not happen."""
    failed = operation(attempt(1, 0, LOST), state=State.FAILED)
    case = assess(failed, look(satisfied=True), world(CANCEL), at(2 * HOUR))
    assert told(case) == (Action.ESCALATE, "LATE_EFFECT")


def test_six_attempts_are_the_budget() -> None:
    """Counted by the ledger, or by the rows, whichever is more."""
    five = [attempt(n, n * 1000, NOT_SENT) for n in range(1, 6)]
    assert not case_of(*five).budget_spent
    assert case_of(*five, attempt(6, 6000, NOT_SENT)).budget_spent


def test_missing_funds_are_told_apart_from_any_other_pending() -> None:
    """Somebody may want to top the account up."""
    pending = effect(liveness=Liveness.PENDING, pending_reason="insufficient_funds")
    assert case_of(attempt(1, 0, LOST), seen=look(pending)).funds_short
    assert not case_of(seen=look(replace(pending, pending_reason="processing"))).funds_short


def test_the_case_is_stored_as_json() -> None:
    """Every field by name, values as plain text, numbers and booleans."""
    stored = case_of(attempt(1, 0, LOST)).as_json()
    assert stored["attempts"] == "ambiguous"
    assert stored["held"] is None
    assert stored["settled"] is True


def test_a_look_that_began_too_early_does_not_show_what_has_settled_since() -> None:
    """Settled is judged at the moment when the look-up began."""
    lost = attempt(1, 0, LOST)
    ended = doubt.settles_at(operation(lost), world())
    assert ended is not None
    now = (ended - at(0)).total_seconds() + 10
    assert case_of(lost, now=now).settled
    assert not case_of(lost, where=world(look_age_s=11.0), now=now).settled

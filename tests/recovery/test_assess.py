"""Named cases: what raw material must mean as a whole, and what recovery makes of it."""

from dataclasses import replace

from ledger.model import Liveness, Marker, State
from recovery.assess import assess
from recovery.case import Action
from tests.recovery.assessed import ABSENT, case_of, told
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
    SIBLING,
    at,
    attempt,
    effect,
    look,
    operation,
    world,
)

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


def test_the_case_is_stored_as_json() -> None:
    """Every field by name, values as plain text, numbers and booleans."""
    stored = case_of(attempt(1, 0, LOST)).as_json()
    assert stored["attempts"] == "ambiguous"
    assert stored["held"] is None
    assert stored["settled"] is True

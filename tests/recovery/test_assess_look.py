"""What a look-up means: ours or not, alive or dead, believed or not, and what is gone."""

from dataclasses import replace
from typing import Any

import pytest

from dispatcher.provider import Trouble
from ledger.model import Liveness, Marker, Money
from recovery.assess import assess
from recovery.case import Action, Seen
from tests.recovery.assessed import case_of, told
from tests.recovery.given import (
    ACCEPTED,
    HOUR,
    LEDGER,
    LOST,
    OPERATION,
    OTHER_LEDGER,
    REFUND,
    SIBLING,
    at,
    attempt,
    effect,
    look,
    operation,
    world,
)


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


def test_two_references_from_a_blind_provider_are_a_duplicate() -> None:
    """The same key was answered with two different effects."""
    blind = world(replace(REFUND, looks_up=False))
    other = replace(ACCEPTED, reference="re_2")
    assert case_of(attempt(1, 0, ACCEPTED), attempt(2, 60, other), where=blind).seen is (
        Seen.DUPLICATE
    )


def test_missing_funds_are_told_apart_from_any_other_pending() -> None:
    """Somebody may want to top the account up."""
    pending = effect(liveness=Liveness.PENDING, pending_reason="insufficient_funds")
    assert case_of(attempt(1, 0, LOST), seen=look(pending)).funds_short
    assert not case_of(seen=look(replace(pending, pending_reason="processing"))).funds_short

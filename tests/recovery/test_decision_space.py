"""The whole space of cases through `decide`: total, every row reached, every invariant."""

import random
from collections import Counter, defaultdict
from dataclasses import fields
from typing import Any

import pytest

from recovery.case import Action, Case
from recovery.decide import TABLE, Decision, decide
from recovery.words import WORDS, explain
from tests.recovery.space import DOMAINS, INVARIANTS, SIZE, Invariant, violations, walk

EXPECTED = {
    1: "abort FENCED",
    2: "escalate DUPLICATE_EFFECT",
    3: "escalate EFFECT_MISMATCH",
    4: "escalate LATE_EFFECT",
    5: "escalate LATE_FAILURE_AFTER_SUCCESS",
    6: "nothing AGREES",
    7: "wait CONFIRMED_UNSEEN, then EFFECT_VANISHED",
    8: "watch FINAL_UNCLEAR",
    9: "finish_confirmed CONFIRMED; finish_confirmed CONFIRMED, also POSSIBLE_HAND_DOUBLE",
    10: "finish_failed ALREADY_SO",
    11: "wait PROVIDER_PENDING, then PENDING_STALE",
    12: "wait CUSTOMER_ACTION, then CUSTOMER_ACTION",
    13: "finish_failed PROVIDER_FAILED; wait SETTLING",
    14: "finish_failed AUTH_EXPIRED_NO_EFFECT; finish_failed AUTH_REVOKED_NO_EFFECT",
    15: "wait PROVIDER_AUTH, then PROVIDER_AUTH",
    16: "wait TARGET_NOT_VISIBLE, then TARGET_NOT_VISIBLE",
    17: "wait PROVIDER_UNREACHABLE, then PROVIDER_UNREACHABLE",
    18: "watch GIVEN_UP",
    19: "wait ACCEPTED_UNSEEN, then EFFECT_VANISHED",
    20: "finish_failed REJECTED",
    21: (
        "finish_failed ACCOUNT_RESTRICTED; finish_failed AUTH_EXPIRED_NO_EFFECT; "
        "finish_failed AUTH_REVOKED_NO_EFFECT; finish_failed DISPUTED; "
        "finish_failed FOREIGN_EFFECT; finish_failed REMAINDER_TOO_SMALL"
    ),
    22: "hold ESCALATION_OPEN",
    23: "escalate PARAM_DRIFT",
    24: "escalate RETRY_BUDGET",
    25: (
        "wait NOT_YET_BRAKE; wait NOT_YET_BREAKER; wait NOT_YET_CANARY; wait NOT_YET_CAP; "
        "wait NOT_YET_CLOCK; wait NOT_YET_NOT_BEFORE; wait NOT_YET_TARGET_BUSY"
    ),
    26: "send NO_EFFECT_RESEND",
    27: "wait SETTLING",
    28: "escalate PARAM_DRIFT",
    29: "hold ESCALATION_OPEN",
    30: "escalate AUTH_EXPIRED_INDETERMINATE; escalate AUTH_REVOKED_INDETERMINATE",
    31: "escalate CACHED_500; wait CACHED_500",
    32: (
        "escalate ACCOUNT_RESTRICTED; escalate ACCOUNT_RESTRICTED, also FOREIGN_EFFECT; "
        "escalate DISPUTED; escalate DISPUTED, also FOREIGN_EFFECT; escalate FOREIGN_EFFECT"
    ),
    33: "escalate REMAINDER_TOO_SMALL",
    34: "escalate RETRY_BUDGET",
    35: (
        "wait NOT_YET_BRAKE; wait NOT_YET_BREAKER; wait NOT_YET_CANARY; wait NOT_YET_CAP; "
        "wait NOT_YET_CLOCK; wait NOT_YET_NOT_BEFORE; wait NOT_YET_TARGET_BUSY"
    ),
    36: "resend TARGET_STATE",
    37: "resend SAFE_REPLAY",
    38: "resend DUPLICATE_TOLERABLE",
    39: "escalate NO_PROOF",
    40: "escalate CREDENTIAL_CHANGED; escalate WINDOW_EXPIRED",
}
"""Every row, with everything that it may say."""


def _told(decision: Decision) -> str:
    told = f"{decision.action} {decision.code}"
    told += f", then {decision.then}" if decision.then else ""
    return told + (f", also {decision.also}" if decision.also else "")


def _complete(read: dict[str, Any], chance: random.Random) -> Case:
    """Make an ordinary case of what was read, with anything in the fields that were not."""
    rest = {name: chance.choice(values) for name, values in DOMAINS.items()}
    return Case(**{**rest, **read})


def test_the_walk_knows_every_field_of_a_case() -> None:
    """A field that was added to the case and not to the space would go untested."""
    assert [field.name for field in fields(Case)] == list(DOMAINS)


def test_every_case_has_a_row() -> None:
    """The groups of the walk add up to the whole product, and none of them failed."""
    assert sum(weight for _, weight, _ in walk(decide)) == SIZE == 1_288_175_616


def test_every_row_is_reached() -> None:
    """No row is dead, and the rows are numbered as in the design."""
    hits = Counter[int]()
    for _, weight, decision in walk(decide):
        hits[decision.row] += weight
    assert sorted(hits) == [row.number for row in TABLE] == list(range(1, 41))


def test_what_was_not_read_does_not_matter() -> None:
    """Ordinary cases get the same decision as the group that the walk counts them in."""
    chance = random.Random(11)  # noqa: S311  a seed, no secret
    for read, _, decision in walk(decide):
        for _ in range(20):
            assert decide(_complete(dict(read), chance)) == decision


def test_each_row_says_what_the_design_says() -> None:
    """Action, code, limit and further question of every row."""
    said = defaultdict[int, set[str]](set)
    for _, _, decision in walk(decide):
        said[decision.row].add(_told(decision))
    assert {row: "; ".join(sorted(told)) for row, told in said.items()} == EXPECTED


@pytest.mark.parametrize("invariant", INVARIANTS, ids=lambda i: i.words)
def test_the_invariant_holds_in_every_case(invariant: Invariant) -> None:
    """Not one group of cases may break it."""
    assert violations(invariant) == []


BESIDE_THE_TABLE = {"CANNOT_JUDGE", "UNRECORDED_EFFECT", "WINDOWS_CLOSING"}
"""Questions that no row asks: a fault of our own, a look at the clock, the reverse sweep."""


def test_every_code_has_words() -> None:
    """A person never reads a bare code; only a type's own preconditions are told in general."""
    codes = set[str]()
    for _, _, decision in walk(decide):
        codes |= {c for c in (decision.code, decision.then, decision.also) if c is not None}
    preconditions = {p for p in DOMAINS["precondition"] if p is not None}
    assert codes - preconditions == set(WORDS) - BESIDE_THE_TABLE
    assert all(explain(code).endswith(".") for code in codes)
    assert "account restricted" in explain("ACCOUNT_RESTRICTED")


def test_a_saved_500_is_told_after_an_hour_and_missing_funds_at_once() -> None:
    """Both are waits that nobody could shorten, but people may want to know."""
    told = {
        (d.code, d.notify_after_s)
        for _, _, d in walk(decide)
        if d.action is Action.WAIT and d.notify_after_s is not None
    }
    assert told == {("CACHED_500", 3600.0), ("PROVIDER_PENDING", 0.0)}
